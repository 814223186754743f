"""Claims with evidence, labelled by hand: what a careful reader says the evidence says of each.

`SEEN` stood beside the deterministic engine while its rules were mended; no rule was made or
changed for one of `FRESH` (only its totals were seen). Both hold
what a comparison of words can't know (paraphrase, arithmetic, who did what to whom), because outputs hold it, too.
"""

from typing import NamedTuple

from checks.claims import Status

S, C, U = Status.SUPPORTED, Status.CONTRADICTED, Status.UNSUPPORTED


class Labelled(NamedTuple):
    claim: str
    evidence: list[str]
    status: Status


HARBOUR = "The harbour office logged 14 arrivals on 3 October 2026. Two of them carried grain. No vessel was detained."
PUMP = "Pump B was replaced on 12 May 2026 by Renko Service. The old pump had run for 11,400 hours. Pressure is 4.2 bar."
INVOICE = "Invoice 2217 from Lindqvist Paper is for 1,860.00 EUR. It is due on 30 November 2026. It has not been paid."
SURVEY = "Of 240 households, 168 answered. Most prefer the morning route. The evening route was rejected by 31 households."
TRIAL = "In the trial, 62 patients received the new dose and 58 the old one. Nausea was reported by nine patients. Nobody died."
STATUS = "All regions are operational. The incident of 2026-09-14 lasted 47 minutes and was caused by an expired certificate."

SEEN = [
    Labelled("14 vessels arrived on 3 October 2026.", [HARBOUR], S),
    Labelled("The harbour office logged 14 arrivals.", [HARBOUR], S),
    Labelled("The harbour office logged 41 arrivals on 3 October 2026.", [HARBOUR], C),
    Labelled("The harbour office logged 14 arrivals on October 4, 2026.", [HARBOUR], C),
    Labelled("Two of the arrivals carried grain.", [HARBOUR], S),
    Labelled("One vessel was detained.", [HARBOUR], C),
    Labelled("A vessel was detained.", [HARBOUR], C),
    Labelled("No vessel was detained.", [HARBOUR], S),
    Labelled("The grain came from Odesa.", [HARBOUR], U),
    Labelled("Pump B was replaced on 2026-05-12.", [PUMP], S),
    Labelled("Renko Service replaced pump B.", [PUMP], S),
    Labelled("Pump B was replaced by Halden Works.", [PUMP], C),
    Labelled("The old pump had run for 11400 hours.", [PUMP], S),
    Labelled("The old pump had run for 1,140 hours.", [PUMP], C),
    Labelled("Pump A was replaced in April.", [PUMP], U),
    Labelled("The pressure is 4.2 bar.", [PUMP], S),
    Labelled("The pressure is 2.4 bar.", [PUMP], C),
    Labelled("The new pump is quieter than the old one.", [PUMP], U),
    Labelled("Invoice 2217 is due on 30 November 2026.", [INVOICE], S),
    Labelled("Invoice 2217 has been paid.", [INVOICE], C),
    Labelled("The invoice is for 1,860 EUR.", [INVOICE], S),
    Labelled("The invoice is for 1,680 EUR.", [INVOICE], C),
    Labelled("Lindqvist Paper offers a discount for early payment.", [INVOICE], U),
    Labelled("168 of 240 households answered.", [SURVEY], S),
    Labelled("Most households prefer the evening route.", [SURVEY], C),
    Labelled("The evening route was accepted by 31 households.", [SURVEY], C),
    Labelled("The survey cost 900 EUR.", [SURVEY], U),
    Labelled("The incident lasted 47 minutes.", [INVOICE, STATUS], S),
    Labelled("All regions are down.", [STATUS], C),
    Labelled("The incident was caused by a flood.", [STATUS], C),
    Labelled("The incident cost customers money.", [STATUS], U),
    Labelled("An expired certificate caused the incident in September 2026.", [STATUS], S),
    Labelled("58 patients received the new dose.", [TRIAL], C),
]  # fmt: skip

LEASE = "The lease of unit 7 runs until 31 March 2028. The rent is 1,150 EUR a month, heating included. Pets are not allowed."
BRIDGE = "The Sorel bridge was closed to lorries in June 2025 after inspectors found cracks in two girders. It reopened on 2 February 2026."
MINUTES = "Present: Amara Osei, Piotr Zielinski, Lena Vogt. The board approved the budget of 2.4 million EUR. Ms Vogt abstained."
RELEASE = "Version 5.3 drops support for Python 3.9. It adds an export to CSV. The default timeout rises from 10 to 30 seconds."
FARM = "The cooperative sold 3,200 tonnes of wheat last year, 400 more than the year before. Barley was not sold abroad."
MERGER = "In 2024 Kestrel Foods bought Brandt Mills for a price that the owners never confirmed. The regulator asked Kestrel Foods to sell two bakeries."
PASS = "The pass lies at 2,100 metres above the sea. The road over it is open from 06:00 to 22:00. Cyclists don't need a permit."
WARD = "The nurse has noted no fever since Tuesday. The dose was halved from 5 mg to 2.5 mg. The patient's daughter called the doctor, because her mother sleeps badly. 22 of 30 beds are taken."

FRESH = [
    Labelled("The lease runs until 31 March 2028.", [LEASE], S),
    Labelled("The lease of unit 7 ends in March 2028.", [LEASE], S),
    Labelled("The lease of unit 7 runs until 31 May 2028.", [LEASE], C),
    Labelled("Heating is included in the rent.", [LEASE], S),
    Labelled("Heating is not included in the rent.", [LEASE], C),
    Labelled("Pets are allowed.", [LEASE], C),
    Labelled("Tenants may keep a dog.", [LEASE], C),
    Labelled("The rent is 1150 EUR a month.", [LEASE], S),
    Labelled("The rent is 1,510 EUR a month.", [LEASE], C),
    Labelled("The deposit is three months' rent.", [LEASE], U),
    Labelled("62 patients received the new dose.", [TRIAL], S),
    Labelled("The trial had 120 patients.", [TRIAL], S),
    Labelled("9 patients reported nausea.", [TRIAL], S),
    Labelled("No patient reported nausea.", [TRIAL], C),
    Labelled("One patient died.", [TRIAL], C),
    Labelled("The new dose is cheaper.", [TRIAL], U),
    Labelled("The Sorel bridge reopened on February 2, 2026.", [BRIDGE], S),
    Labelled("The Sorel bridge reopened on February 20, 2026.", [BRIDGE], C),
    Labelled("Inspectors found cracks in two girders.", [BRIDGE], S),
    Labelled("Inspectors found no cracks.", [BRIDGE], C),
    Labelled("Inspectors found cracks in five girders of the Sorel bridge.", [BRIDGE], C),
    Labelled("The bridge was closed to cyclists.", [BRIDGE], U),
    Labelled("The repair was paid for by the state.", [BRIDGE], U),
    Labelled("The board approved a budget of 2,400,000 EUR.", [MINUTES], S),
    Labelled("The board rejected the budget.", [MINUTES], C),
    Labelled("Lena Vogt abstained.", [MINUTES], S),
    Labelled("Piotr Zielinski abstained.", [MINUTES], U),
    Labelled("The next meeting is on 9 January 2027.", [MINUTES], U),
    Labelled("Four members were present.", [MINUTES], C),
    Labelled("Version 5.3 supports Python 3.9.", [RELEASE], C),
    Labelled("Version 5.3 no longer supports Python 3.9.", [RELEASE], S),
    Labelled("It adds an export to CSV.", [RELEASE], S),
    Labelled("Version 5.3 adds an export to Excel.", [RELEASE], U),
    Labelled("The default timeout rises to 30 seconds.", [RELEASE], S),
    Labelled("The default timeout falls from 30 to 10 seconds.", [RELEASE], C),
    Labelled("The cooperative sold 3,200 tonnes of wheat last year.", [FARM], S),
    Labelled("The cooperative sold 2,800 tonnes of wheat the year before.", [FARM], S),
    Labelled("Barley was sold abroad.", [FARM], C),
    Labelled("The harvest of oats was poor.", [FARM, HARBOUR], U),
    Labelled("The survey was done by telephone.", [SURVEY], U),
    Labelled("The pressure was 3.9 bar before the repair.", [PUMP], U),
    Labelled("Grain prices rose after the arrivals.", [HARBOUR], U),
    Labelled("The bridge is older than the road that leads to it.", [BRIDGE], U),
    # roles, word order, a single word changed, units and notations
    Labelled("Kestrel Foods bought Brandt Mills in 2024.", [MERGER], S),
    Labelled("Brandt Mills bought Kestrel Foods in 2024.", [MERGER], C),
    Labelled("The regulator asked Kestrel Foods to sell two bakeries.", [MERGER], S),
    Labelled("Kestrel Foods asked the regulator to sell two bakeries.", [MERGER], C),
    Labelled("The price was never confirmed by the owners.", [MERGER], S),
    Labelled("The price was confirmed by the owners.", [MERGER], C),
    Labelled("The pass lies at 2.1 km above the sea.", [PASS], S),
    Labelled("The pass lies at 2,100 km above the sea.", [PASS], C),
    Labelled("The road is open from 6 a.m. until 10 p.m.", [PASS], S),
    Labelled("The road is open from 6 p.m. until 10 a.m.", [PASS], C),
    Labelled("Cyclists need no permit.", [PASS], S),
    Labelled("Cyclists need a helmet.", [PASS], U),
    Labelled("The nurse reports no fever since Tuesday.", [WARD], S),
    Labelled("The nurse doubts the dose of 5 mg.", [WARD], U),
    Labelled("The daughter of the patient called the doctor.", [WARD], S),
    Labelled("The doctor called the daughter of the patient.", [WARD], U),
    Labelled("The dose was halved to 2.5 mg.", [WARD], S),
    Labelled("The dose was doubled to 2.5 mg.", [WARD], C),
    Labelled("The patient sleeps well.", [WARD], C),
    Labelled("Twenty-two beds are taken.", [WARD], S),
]  # fmt: skip

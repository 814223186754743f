"""Units that a figure may carry, what they are of, and how they convert. Pure."""

from decimal import Decimal
from typing import NamedTuple


class Unit(NamedTuple):
    """`base`: what its figures are counted in; `factor`: how many of those it is; `kind`: what can be told apart by it."""

    base: str
    factor: Decimal
    kind: str


# kind, base, factor, names
_TABLE = """
time second 1 s sec secs seconds
time second 60 min mins minute minutes
time second 3600 h hr hrs hour hours
time second 86400 day days
time second 604800 week weeks wk wks
time month 1 month months
time month 12 year years yr yrs
length metre 0.001 mm millimetre millimetres millimeter millimeters
length metre 0.01 cm centimetre centimetres centimeter centimeters
length metre 1 m metre metres meter meters
length metre 1000 km kilometre kilometres kilometer kilometers
length metre 0.3048 ft foot feet
length metre 0.0254 inch inches
length metre 1609.344 mile miles
speed kmh 1 km/h kmh kph
speed mph 1 mph
mass gram 0.001 mg milligram milligrams
mass gram 1 g gram grams
mass gram 1000 kg kilo kilos kilogram kilograms
mass gram 1000000 t tonne tonnes
mass ton 1 ton tons
mass gram 453.59237 lb lbs
volume litre 0.001 ml millilitre millilitres milliliter milliliters
volume litre 1 l litre litres liter liters
data byte 1 byte bytes
data byte 1000 kb
data byte 1000000 mb megabyte megabytes
data byte 1000000000 gb gigabyte gigabytes
data byte 1000000000000 tb terabyte terabytes
power watt 1 watt watts
power watt 1000 kw kilowatt kilowatts
power watt 1000000 mw megawatt megawatts
energy kwh 1 kwh
frequency hertz 1 hz hertz
frequency hertz 1000000 mhz
frequency hertz 1000000000 ghz
pressure bar 1 bar
sound db 1 db decibel decibels
temperature celsius 1 °c celsius ℃
temperature fahrenheit 1 °f fahrenheit
temperature degree 1 ° degree degrees
percent percent 1 % percent pct ％
money eur 1 € eur euro euros
money usd 1 $ us$ usd dollar dollars
money gbp 1 £ gbp pound pounds
money jpy 1 ¥ jpy yen
money chf 1 chf franc francs
money inr 1 ₹ inr rupee rupees
money cny 1 cny rmb yuan
money sek 1 sek
money nok 1 nok
money dkk 1 dkk
money pln 1 pln
money aud 1 aud a$
money cad 1 cad c$
money btc 1 btc
money eth 1 eth
money sol 1 sol
money usdc 1 usdc
money usdt 1 usdt
"""


def _units() -> dict[str, Unit]:
    found: dict[str, Unit] = {}
    for line in _TABLE.strip().splitlines():
        kind, base, factor, *names = line.split()
        found |= dict.fromkeys(names, Unit(base, Decimal(factor), kind))
    return found


UNITS = _units()
KINDS = {unit.base: unit.kind for unit in UNITS.values()}
MONEY = frozenset(name for name, unit in UNITS.items() if unit.kind == "money")
PERCENT, CLOCK, CLOCK_12 = "percent", "clock", "clock12"
KINDS |= {"": "", CLOCK: "clock", CLOCK_12: "clock"}

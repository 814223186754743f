// The dashboard: one key's calls, asked from /v1/usage and drawn by Chart.js, each chart with its table.
// The key is kept in sessionStorage alone and leaves as a header alone; its field has no name, so no form sends it.
"use strict";
(() => {
  const root = document.getElementById("dash");
  if (!root || !window.Chart) return;
  const KEPT = "countersign.judge-key";
  const SHAPE = /^cs_[a-z0-9]{8,12}_[A-Za-z0-9_-]{43}$/;
  const SLOW_MS = 300; // under it nothing is said of waiting
  const MOST_ENGINES = 3; // told apart by their fill; the rest go together
  const LONG_DAYS = 40; // more of them want the page's whole width
  const at = (id) => document.getElementById(`dash-${id}`);
  const whole = new Intl.NumberFormat("en-GB");
  const dayName = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
  const spoken = (day) => dayName.format(new Date(`${day}T00:00:00Z`));
  const two = (value) => (value === null ? "" : value.toFixed(2));
  const time = (value) => (value === null ? "" : `${whole.format(value)} ms`);

  // ---- the key

  const kept = {
    get: () => { try { return sessionStorage.getItem(KEPT) || ""; } catch { return kept.here || ""; } },
    set: (key) => { kept.here = key; try { sessionStorage.setItem(KEPT, key); } catch { /* a browser that keeps nothing */ } },
    drop: () => { kept.here = ""; try { sessionStorage.removeItem(KEPT); } catch { /* likewise */ } },
  };

  function wrongKey(text) {
    const field = at("key-text");
    const line = at("key-wrong");
    line.hidden = !text;
    line.querySelector("span").textContent = text;
    text ? field.setAttribute("aria-invalid", "true") : field.removeAttribute("aria-invalid");
    field.setAttribute("aria-describedby", text ? "dash-key-hint dash-key-wrong" : "dash-key-hint");
  }

  function showKey() {
    const key = kept.get();
    at("key").hidden = at("how").hidden = Boolean(key);
    at("bar").hidden = !key;
    at("key-shown").textContent = key ? `${key.split("_").slice(0, 2).join("_")}_…` : "";
    if (!key) clear();
  }

  function forget() {
    kept.drop();
    asking?.abort();
    showKey();
    at("key-text").focus();
  }

  // ---- asking

  let asking = null;

  async function ask() {
    const key = kept.get();
    if (!key) return;
    asking?.abort();
    const mine = asking = new AbortController();
    const slow = setTimeout(() => { at("status").textContent = "Asking for the figures …"; }, SLOW_MS);
    const days = root.querySelector("input[name=days]:checked").value;
    try {
      const answer = await fetch(`${root.dataset.usage}?days=${days}`, {
        headers: { Authorization: `Bearer ${key}` },
        cache: "no-store", credentials: "omit", redirect: "error", signal: mine.signal,
      });
      const told = await answer.json();
      if (mine !== asking) return;
      answer.ok ? show(told) : refused(answer, told.error || {});
    } catch (error) {
      if (mine !== asking || error.name === "AbortError") return;
      complain("The server did not answer", "Look whether you are connected, then press Look again. The key is still here.");
    } finally {
      clearTimeout(slow);
      if (mine === asking && at("status").textContent.endsWith("…")) at("status").textContent = "";
    }
  }

  function refused(answer, error) {
    const wait = answer.headers.get("Retry-After");
    const cases = {
      401: ["The key is unknown or was revoked", "It was taken out of this browser. Paste another."],
      403: ["The key does not open the judge", "It is one for the tools of the protocol, and was taken out of this browser. Paste one with the judge scope."],
      429: ["Asked too often", `Wait ${wait} seconds, then press Look again. The key is still here.`],
    };
    const [title, text] = cases[answer.status] || ["The server did not tell", error.message || "Press Look again in a while."];
    if (answer.status === 401 || answer.status === 403) {
      kept.drop();
      showKey();
    }
    complain(title, text);
  }

  function complain(title, text) {
    clear();
    const box = at("error");
    box.querySelector("h2").textContent = title;
    box.querySelector("p").textContent = text;
    box.hidden = false;
    box.focus();
  }

  function clear() {
    at("error").hidden = at("empty").hidden = at("shown").hidden = true;
    at("status").textContent = "";
    drawn.forEach((chart) => chart.destroy());
    drawn = [];
    usage = null;
  }

  // ---- what is shown

  let usage = null;
  let drawn = [];

  function show(told) {
    clear();
    usage = told;
    const span = `${spoken(told.from)} to ${spoken(told.to)}`;
    at("status").textContent = `${whole.format(told.totals.calls)} calls, ${span}.`;
    if (!told.totals.calls) {
      at("empty").querySelector("span").textContent = `This key made none from ${span}.`;
      at("empty").hidden = false;
      return;
    }
    at("shown").hidden = false;
    root.querySelector(".dash-charts").classList.toggle("dash-long", told.days.length > LONG_DAYS);
    totals(told);
    draw();
  }

  function totals({ totals: all, quota }) {
    const share = (count) => `${Math.round((100 * count) / all.calls)} %`;
    const rows = [
      ["Calls", whole.format(all.calls), ""],
      ...["pass", "retry", "fail"].map((word) => [word, whole.format(all.verdicts[word]), share(all.verdicts[word])]),
      ["consensus", whole.format(all.verdicts.consensus), share(all.verdicts.consensus)],
      ["Mean score", two(all.score_mean) || "none", ""],
      ["Half within", time(all.latency_ms.p50), ""],
      ["95 % within", time(all.latency_ms.p95), ""],
      ["Today", whole.format(quota.used_today), `of ${whole.format(quota.per_day)}`],
    ];
    at("totals").replaceChildren(...rows.map(([name, value, more]) => {
      const row = element("div");
      const told = element("dd", "", value);
      if (more) told.append(" ", element("span", "meta", more));
      row.append(element("dt", "", name[0].toUpperCase() + name.slice(1)), told);
      return row;
    }));
  }

  /** Series of each chart: a name, a value of a day (null = none), how it is filled or drawn. */
  function plans() {
    const engines = Object.entries(usage.totals.engines).sort((a, b) => b[1] - a[1]).map(([name]) => name);
    const named = (engines.length > MOST_ENGINES + 1 ? engines.slice(0, MOST_ENGINES) : engines).sort();
    const others = engines.filter((name) => !named.includes(name));
    const counts = (day, names) => names.reduce((sum, name) => sum + (day.engines[name] || 0), 0);
    const verdict = (name, fill, glyph) => ({ name, fill, glyph, of: (day) => day.verdicts[name] });
    return {
      verdicts: { bars: true, says: whole.format, series: [
        verdict("pass", "pass", "pass"), verdict("retry", "retry", "unsure"), verdict("fail", "fail", "fail"),
        verdict("consensus", "other", ""),
      ] },
      score: { most: 1, step: 0.25, says: two, series: [{ name: "mean", fill: "line", of: (day) => day.score_mean }] },
      latency: { says: time, series: [
        { name: "p95", fill: "dashed", of: (day) => day.latency_ms.p95 },
        { name: "p50", fill: "line", of: (day) => day.latency_ms.p50 },
      ] },
      engines: { bars: true, says: whole.format, series: [
        ...named.map((name, place) => ({ name, fill: `engine-${place}`, of: (day) => counts(day, [name]) })),
        ...(others.length ? [{ name: `${others.length} others`, fill: `engine-${MOST_ENGINES}`, of: (day) => counts(day, others) }] : []),
      ] },
    };
  }

  function draw() {
    drawn.forEach((chart) => chart.destroy());
    const all = plans();
    const look = window.dashboardLook(root);
    drawn = [...root.querySelectorAll("[data-chart]")].map((figure) => {
      const plan = all[figure.dataset.chart];
      const title = figure.querySelector("h2").textContent;
      const canvas = figure.querySelector("canvas");
      names(figure, plan);
      table(figure, plan);
      canvas.setAttribute("aria-label", `${title}, ${spoken(usage.from)} to ${spoken(usage.to)}: ${summary(plan)}. The table below has every day.`);
      return new window.Chart(canvas, look(plan, usage.days, spoken));
    });
  }

  function summary(plan) {
    return plan.series.map(({ name, of }) => {
      const values = usage.days.map(of).filter((value) => value !== null);
      if (plan.bars) return `${whole.format(values.reduce((sum, value) => sum + value, 0))} ${name}`;
      return values.length ? `${name} from ${plan.says(Math.min(...values))} to ${plan.says(Math.max(...values))}` : `no ${name}`;
    }).join(", ");
  }

  /** What each fill means, in words; lines have their names at their ends. */
  function names(figure, plan) {
    figure.querySelector(".dash-series").replaceChildren(...(plan.bars ? plan.series : []).map(({ name, fill }) => {
      const item = element("li");
      item.append(element("span", `dash-swatch dash-swatch-${fill}`), name);
      return item;
    }));
  }

  function table(figure, plan) {
    const head = element("tr");
    head.append(...["Day", ...plan.series.map(({ name }) => name)].map((text, place) => {
      const cell = element("th", place ? "num" : "", text);
      cell.scope = "col";
      return cell;
    }));
    figure.querySelector("thead").replaceChildren(head);
    figure.querySelector("tbody").replaceChildren(...usage.days.filter((day) => day.calls).reverse().map((day) => {
      const row = element("tr");
      const name = element("th", "", spoken(day.day));
      name.scope = "row";
      row.append(name, ...plan.series.map(({ of }) => element("td", "num", of(day) === null ? "none" : plan.says(of(day)))));
      return row;
    }));
  }

  function element(tag, className = "", text = "") {
    const made = document.createElement(tag);
    if (className) made.className = className;
    made.textContent = text;
    return made;
  }

  // ---- what people do, and what the page notices

  at("key").addEventListener("submit", (event) => {
    event.preventDefault();
    const field = at("key-text");
    const key = field.value.trim();
    if (!SHAPE.test(key)) {
      wrongKey("This is no key: one starts with cs_ and has no blanks in it. Paste all of it.");
      field.focus();
      return;
    }
    wrongKey("");
    field.value = "";
    kept.set(key);
    clear();
    showKey();
    root.querySelector("input[name=days]:checked").focus();
    ask();
  });
  at("forget").addEventListener("click", forget);
  at("again").addEventListener("click", ask);
  root.querySelectorAll("input[name=days]").forEach((choice) => choice.addEventListener("change", ask));
  const redraw = () => { if (usage?.totals.calls) draw(); };
  new MutationObserver(redraw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)"]) {
    window.matchMedia(query).addEventListener("change", redraw);
  }
  at("bare").hidden = true;
  showKey();
  ask();
})();

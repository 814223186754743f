// The dashboard: one key's calls, asked from /v1/usage and drawn by Chart.js, each chart with its table.
// The key is kept in sessionStorage alone and leaves as a header alone; its field has no name, so no form sends it.
"use strict";
(() => {
  const root = document.getElementById("dash");
  if (!root || !window.Chart) return;
  const KEPT = "countersign.judge-key";
  const RANGE = "countersign.judge-days";
  const SHAPE = /^cs_[a-z0-9]{8,12}_[A-Za-z0-9_-]{43}$/;
  const SLOW_MS = 300; // under it nothing is said of waiting
  const PATIENCE_MS = 30_000; // longer than the server takes
  const MOST_ENGINES = 3; // told apart by their fill; the rest go together in the chart, never in its table
  const LONG_DAYS = 40; // more of them want the page's whole width
  const SVG = "http://www.w3.org/2000/svg";
  const STROKES = {
    hatch: ["M.5 5.5l5-5M.5 11.5l11-11M6.5 11.5l5-5"],
    dots: ["M3 3h1.5v1.5H3zM7.5 3H9v1.5H7.5zM5.25 5.25h1.5v1.5h-1.5zM3 7.5h1.5V9H3zM7.5 7.5H9V9H7.5z"],
  };
  const at = (id) => document.getElementById(`dash-${id}`);
  const whole = new Intl.NumberFormat("en-GB");
  const dayName = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
  const spoken = (day) => dayName.format(new Date(`${day}T00:00:00Z`));
  const clock = () => new Date().toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  const two = (value) => (value === null ? "" : value.toFixed(2));
  const time = (value) => (value === null ? "" : `${whole.format(value)} ms`);

  // ---- the key

  const kept = {
    get: () => { try { return sessionStorage.getItem(KEPT) || ""; } catch { return kept.here || ""; } },
    set: (key) => { kept.here = key; try { sessionStorage.setItem(KEPT, key); } catch { /* a browser that keeps nothing */ } },
    drop: () => { kept.here = ""; try { sessionStorage.removeItem(KEPT); } catch { /* likewise */ } },
  };
  const range = {
    get: () => root.querySelector("input[name=days]:checked").value,
    keep: () => { try { sessionStorage.setItem(RANGE, range.get()); } catch { /* likewise */ } },
    restore: () => {
      let days = null;
      try { days = sessionStorage.getItem(RANGE); } catch { /* likewise */ }
      for (const choice of root.querySelectorAll("input[name=days]")) if (choice.value === days) choice.checked = true;
    },
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
    try {
      const answer = await fetch(`${root.dataset.usage}?days=${range.get()}`, {
        headers: { Authorization: `Bearer ${key}` },
        cache: "no-store", credentials: "omit", redirect: "error",
        signal: AbortSignal.any([mine.signal, AbortSignal.timeout(PATIENCE_MS)]),
      });
      const told = await answer.json();
      if (mine !== asking) return;
      answer.ok && told.totals && told.days ? show(told) : refused(answer, told.error || {});
    } catch (error) {
      if (mine !== asking || error.name === "AbortError") return;
      complain("The server did not answer", "Look whether you are connected, then press Look again. The key is still here.");
    } finally {
      clearTimeout(slow);
      if (mine === asking && at("status").textContent.endsWith("…")) at("status").textContent = usage ? shownNow() : "";
    }
  }

  function refused(answer, error) {
    const seconds = Number(answer.headers.get("Retry-After")); // a proxy may say none, or a date
    const wait = seconds > 0 ? `${seconds} ${seconds === 1 ? "second" : "seconds"}` : "a moment";
    const cases = {
      401: ["The key is unknown or was revoked", "It was taken out of this browser. Paste another."],
      403: ["The key does not open the judge", "It is one for the tools of the protocol, and was taken out of this browser. Paste one with the judge scope."],
      429: ["Asked too often", `Wait ${wait}, then press Look again. The key is still here.`],
    };
    const [title, text] = cases[answer.status] || ["The server did not tell", error.message || "Press Look again in a while."];
    if (answer.status === 401 || answer.status === 403) {
      kept.drop();
      showKey();
    }
    complain(title, text);
  }

  /** What was right stays, and it is said of when it is. */
  function complain(title, text) {
    const box = at("error");
    box.querySelector("h2").textContent = title;
    box.querySelector("p").textContent = usage ? `${text} What is shown below is of ${asked}.` : text;
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
  let asked = ""; // when, by the clock
  let drawn = [];

  const span = () => `${spoken(usage.from)} to ${spoken(usage.to)}`;
  const shownNow = () => `${whole.format(usage.totals.calls)} ${usage.totals.calls === 1 ? "call" : "calls"}, ${span()}. As of ${asked}.`;

  function show(told) {
    clear();
    usage = told;
    asked = clock();
    at("status").textContent = shownNow();
    if (!told.totals.calls) {
      at("empty").querySelector("span").textContent = `This key made none from ${span()}.`;
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
      const told = element("dd");
      told.append(element("span", "", value));
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
      engines: { bars: true, says: whole.format, rows: engines.map((name) => ({ name, of: (day) => counts(day, [name]) })), series: [
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
      item.append(swatch(fill), name);
      return item;
    }));
  }

  /** A square filled as its bars are: dense, bare, hatched or dotted. */
  function swatch(fill) {
    const made = document.createElementNS(SVG, "svg");
    made.setAttribute("class", `dash-swatch dash-swatch-${fill}`);
    made.setAttribute("viewBox", "0 0 12 12");
    made.setAttribute("aria-hidden", "true");
    for (const d of ["M.5.5h11v11H.5z", ...(STROKES[window.dashboardFills[fill]] ?? [])]) {
      const path = document.createElementNS(SVG, "path");
      path.setAttribute("d", d);
      made.append(path);
    }
    return made;
  }

  /** Every row of the table, by `rows` where it tells more than the chart. */
  function table(figure, { says, series, rows = series }) {
    const head = element("tr");
    head.append(...["Day", ...rows.map(({ name }) => name)].map((text, place) => {
      const cell = element("th", place ? "num" : "", text);
      cell.scope = "col";
      return cell;
    }));
    figure.querySelector("thead").replaceChildren(head);
    figure.querySelector("tbody").replaceChildren(...usage.days.filter((day) => day.calls).reverse().map((day) => {
      const row = element("tr");
      const name = element("th", "", spoken(day.day));
      name.scope = "row";
      row.append(name, ...rows.map(({ of }) => element("td", "num", of(day) === null ? "none" : says(of(day)))));
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
  root.querySelectorAll("input[name=days]").forEach((choice) => choice.addEventListener("change", () => { range.keep(); ask(); }));
  const redraw = () => { if (usage?.totals.calls) draw(); };
  new MutationObserver(redraw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)"]) {
    window.matchMedia(query).addEventListener("change", redraw);
  }
  at("bare").hidden = true;
  range.restore();
  showKey();
  ask();
})();

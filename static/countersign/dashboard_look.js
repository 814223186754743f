// How the dashboard's charts look: colours and type come from the page's own custom properties, so that they follow its theme;
// series differ by fill before hue, lines carry their names at their ends, and nothing moves.
"use strict";
(() => {
  const TOKENS = ["ink", "quiet", "line", "ground", "pass", "fail", "retry", "edge"];
  const LETTERS_REM = 0.6875; // as the smallest elsewhere; whoever reads with larger letters gets larger ones here
  const NAMES_EM = 4; // room for a line's name at its end
  const NAME_APART_EM = 1.3;
  const DAY_EM = 5.5; // room for a day's name, and what parts it from the next
  const BESIDE_EM = 6; // what figures and names take beside them
  const MOST_DAYS = 8;

  /** How each name that a series may be filled by differs from the others without its colour. */
  window.dashboardFills = {
    pass: "dense", retry: "bare", fail: "hatch", other: "dots",
    "engine-0": "dense", "engine-1": "hatch", "engine-2": "dots", "engine-3": "bare",
  };

  /** The page's colours as any canvas takes them: {ink: "rgb(…)", …}. A custom property may hold what only CSS can resolve. */
  function colours(root) {
    const probe = document.createElement("span");
    const pixel = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    root.append(probe);
    const found = {};
    for (const name of TOKENS) {
      probe.style.color = `var(--dash-${name})`;
      pixel.fillStyle = getComputedStyle(probe).color;
      pixel.fillRect(0, 0, 1, 1);
      const [red, green, blue] = pixel.getImageData(0, 0, 1, 1).data;
      found[name] = `rgb(${red}, ${green}, ${blue})`;
    }
    probe.remove();
    return found;
  }

  function pattern(kind, colour, ground) {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 6;
    const pen = tile.getContext("2d");
    pen.fillStyle = ground;
    pen.fillRect(0, 0, 6, 6);
    pen.strokeStyle = pen.fillStyle = colour;
    pen.lineWidth = 1.6;
    if (kind === "dots") {
      pen.fillRect(1, 1, 2, 2);
      pen.fillRect(4, 4, 2, 2);
    } else {
      pen.beginPath();
      for (const from of [-6, 0, 6]) {
        pen.moveTo(from - 1, 7);
        pen.lineTo(from + 7, -1);
      }
      pen.stroke();
    }
    return pen.createPattern(tile, "repeat");
  }

  /** Fill and outline of each. */
  function fills(is) {
    const colour = { pass: is.pass, retry: is.retry, fail: is.fail, other: is.edge };
    return Object.fromEntries(Object.entries(window.dashboardFills).map(([name, kind]) => {
      const edge = colour[name] ?? is.ink;
      return [name, [kind === "dense" ? edge : kind === "bare" ? is.ground : pattern(kind, edge, is.ground), edge]];
    }));
  }

  function dataset(plan, one, days, is, filled) {
    const data = days.map(one.of);
    if (plan.bars) {
      const [fill, edge] = filled[one.fill];
      return {
        label: one.name, data, backgroundColor: fill, borderColor: edge, borderWidth: 1, borderSkipped: false, inflateAmount: 0,
        hoverBackgroundColor: fill, hoverBorderColor: edge, categoryPercentage: 0.9, barPercentage: 0.9, maxBarThickness: 28,
      };
    }
    const dashed = one.fill === "dashed";
    const colour = dashed ? is.edge : is.ink;
    return {
      label: one.name, data, borderColor: colour, borderWidth: 2, borderDash: dashed ? [4, 3] : [], spanGaps: false, tension: 0, clip: 8,
      pointRadius: days.length > 40 ? 1.5 : 3, pointBackgroundColor: dashed ? is.ground : colour, pointBorderColor: colour,
      pointHoverBackgroundColor: dashed ? is.ground : colour, pointHoverBorderColor: colour,
    };
  }

  /** Each line's name beside its last point, pushed apart where two ends meet. */
  const lineNames = (is, type) => ({
    id: "lineNames",
    afterDatasetsDraw(chart) {
      const ends = chart.data.datasets.map((set, place) => {
        const last = set.data.findLastIndex((value) => value !== null);
        return last < 0 ? null : { name: set.label, y: chart.getDatasetMeta(place).data[last].y };
      }).filter(Boolean).sort((a, b) => a.y - b.y);
      ends.forEach((end, place) => { if (place) end.y = Math.max(end.y, ends[place - 1].y + NAME_APART_EM * type.size); });
      const pen = chart.ctx;
      pen.save();
      pen.font = `${type.size}px ${type.family}`;
      pen.fillStyle = is.quiet;
      pen.textBaseline = "middle";
      for (const end of ends) pen.fillText(end.name, chart.chartArea.right + 10, end.y);
      pen.restore();
    },
  });

  /** As many days as have room are named, counted back from the last, which is always among them. */
  function dayNames(type) {
    return function named(value, place, ticks) {
      const letters = this.chart.width / type.size - BESIDE_EM;
      const room = Math.max(2, Math.min(MOST_DAYS, Math.floor(letters / DAY_EM)));
      const apart = Math.ceil(ticks.length / room);
      return (ticks.length - 1 - place) % apart ? null : this.getLabelForValue(value);
    };
  }

  function scales(plan, is, type) {
    const ticks = { color: is.quiet, font: type, maxTicksLimit: 5, padding: 6 };
    return {
      x: {
        stacked: plan.bars, border: { color: is.edge }, grid: { display: false },
        ticks: { ...ticks, autoSkip: false, maxRotation: 0, callback: dayNames(type) },
      },
      y: {
        stacked: plan.bars, beginAtZero: true, max: plan.most, border: { display: false }, grid: { color: is.line, tickLength: 0 },
        ticks: { ...ticks, precision: plan.bars ? 0 : undefined, stepSize: plan.step, callback: (value) => plan.says(value) },
      },
    };
  }

  function tooltip(plan, is, type) {
    return {
      backgroundColor: is.ink, titleColor: is.ground, bodyColor: is.ground, titleFont: { ...type, weight: 600 }, bodyFont: type,
      cornerRadius: 4, padding: 8, caretSize: 0, displayColors: false,
      callbacks: { label: (item) => `${item.dataset.label}  ${plan.says(item.raw)}` },
    };
  }

  /** A function of (plan, days, how a day is called) to what Chart.js is given, in the theme of now. */
  window.dashboardLook = (root) => {
    const is = colours(root);
    const filled = fills(is);
    const size = LETTERS_REM * parseFloat(getComputedStyle(document.documentElement).fontSize);
    const type = { family: getComputedStyle(root).fontFamily, size };
    return (plan, days, spoken) => ({
      type: plan.bars ? "bar" : "line",
      data: { labels: days.map(({ day }) => spoken(day)), datasets: plan.series.map((one) => dataset(plan, one, days, is, filled)) },
      plugins: plan.bars ? [] : [lineNames(is, type)],
      options: {
        animation: false, responsive: true, maintainAspectRatio: false, interaction: { mode: "index", intersect: false },
        layout: { padding: { top: 6, right: plan.bars ? 0 : NAMES_EM * size } },
        scales: scales(plan, is, type),
        plugins: { legend: { display: false }, tooltip: tooltip(plan, is, type) },
      },
    });
  };
})();

"use strict";
// Draws the report from the JSON in #data. Everything a chart shows stands in a table below it.
(() => {
  const report = JSON.parse(document.getElementById("data").textContent);
  const marks = ["circle", "rectRot", "triangle", "rect", "crossRot", "star"];
  const dashes = [[], [7, 4], [2, 3], [10, 3, 2, 3], [4, 4], [12, 4]];
  const charts = [];
  const reset = () => charts.forEach((draw) => draw());

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const seriesColour = (index) => colour(`--series-${index % marks.length}`);

  // Numbers as people read them.
  const round = (value) => value.toLocaleString("en", { maximumFractionDigits: value < 10 ? 2 : value < 100 ? 1 : 0 });
  const rate = (value) => (value == null ? "–" : round(value));
  const percent = (value, digits = 1) => (value == null ? "–" : `${value.toFixed(digits)}\u00a0%`);
  const short = (value) =>
    value >= 1e6 ? `${+(value / 1e6).toPrecision(3)} M` : value >= 1e4 ? `${+(value / 1e3).toPrecision(3)} k` : round(value);
  const threads = (count) => (count === 0 ? "no loader threads" : `${count} thread${count === 1 ? "" : "s"}`);
  const pointAt = (points, count) => points.find((point) => point.threads === count);
  const spread = (point) => (100 * (point.high - point.low)) / point.images_per_second;

  // Elements: text only, never markup from the data.
  const element = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  };
  const svg = (tag, attributes) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    return node;
  };
  const cell = (text, options = {}) => {
    const node = element(options.header ? "th" : "td", options.header ? { scope: "row" } : {}, text);
    if (options.text) node.classList.add("text");
    if (text === "–") node.classList.add("none");
    return node;
  };
  const table = (heads, rows) => {
    const node = element("table");
    const line = element("tr");
    heads.forEach(([text, isText]) => line.append(element("th", { scope: "col", ...(isText ? { class: "text" } : {}) }, text)));
    node.append(element("thead", {}, line), element("tbody", {}, ...rows));
    return node;
  };

  // The line and mark of a series, for legends and tables.
  const sample = (index) => {
    const shapes = [
      svg("circle", { cx: 14, cy: 6, r: 4 }),
      svg("path", { d: "M14 1 L19 6 L14 11 L9 6 Z" }),
      svg("path", { d: "M14 1 L19 10 L9 10 Z" }),
      svg("rect", { x: 10, y: 2, width: 8, height: 8 }),
      svg("path", { d: "M10 2 L18 10 M18 2 L10 10" }),
      svg("path", { d: "M14 1 V11 M9 6 H19 M10 2 L18 10" }),
    ];
    const node = svg("svg", { width: 28, height: 12, viewBox: "0 0 28 12", "aria-hidden": "true", class: "swatch" });
    const stroke = `var(--series-${index % marks.length})`;
    node.append(svg("line", { x1: 0, y1: 6, x2: 28, y2: 6, "stroke-width": 2, "stroke-dasharray": dashes[index % dashes.length].join(" ") }));
    node.append(shapes[index % shapes.length]);
    node.setAttribute("style", `stroke:${stroke};fill:${stroke}`);
    return node;
  };
  const demandSample = () => {
    const node = svg("svg", { width: 28, height: 12, viewBox: "0 0 28 12", "aria-hidden": "true", class: "swatch" });
    node.append(svg("line", { x1: 0, y1: 6, x2: 28, y2: 6, style: "stroke:var(--ink);stroke-width:2" }));
    return node;
  };

  // Draws from the slowest repeat to the fastest at every point, the demand line and the ring.
  const annotations = {
    id: "annotations",
    afterDatasetsDraw(chart, _arguments, options) {
      const { ctx, chartArea: area, scales } = chart;
      ctx.save();
      // Words that stay readable over lines: a rim of the card's colour around them.
      const label = (text, x, y) => {
        ctx.lineWidth = 4;
        ctx.lineJoin = "round";
        ctx.strokeStyle = colour("--card");
        ctx.strokeText(text, x, y);
        ctx.fillText(text, x, y);
      };
      chart.data.datasets.forEach((dataset, index) => {
        if (!dataset.points) return;
        ctx.strokeStyle = dataset.borderColor;
        ctx.lineWidth = 1.5;
        chart.getDatasetMeta(index).data.forEach((mark, i) => {
          const { low, high } = dataset.points[i];
          ctx.beginPath();
          ctx.moveTo(mark.x, scales.y.getPixelForValue(low));
          ctx.lineTo(mark.x, scales.y.getPixelForValue(high));
          ctx.stroke();
        });
      });
      ctx.font = `600 12px ${getComputedStyle(document.body).fontFamily}`;
      if (options.demand) {
        const y = scales.y.getPixelForValue(options.demand);
        ctx.strokeStyle = ctx.fillStyle = colour("--ink");
        ctx.lineWidth = 1.5;
        ctx.beginPath();
        ctx.moveTo(area.left, y);
        ctx.lineTo(area.right, y);
        ctx.stroke();
      }
      if (options.chosen) {
        const x = scales.x.getPixelForValue(options.chosen.threads);
        const y = scales.y.getPixelForValue(options.chosen.images_per_second);
        ctx.strokeStyle = ctx.fillStyle = colour("--ink");
        ctx.lineWidth = 2;
        ctx.beginPath();
        ctx.arc(x, y, 10, 0, 2 * Math.PI);
        ctx.stroke();
        const chosenIsLeft = x <= (area.left + area.right) / 2;
        ctx.textAlign = chosenIsLeft ? "left" : "right";
        label(`${threads(options.chosen.threads)}, ${short(options.chosen.images_per_second)}/s`, x + (chosenIsLeft ? -8 : 8), y - 17);
      }
      ctx.restore();
    },
  };

  // Room for the words above the highest mark that has any.
  const headroom = (...marked) => Math.max(0, ...marked.map((point) => (point ? point.images_per_second * 1.12 : 0))) || undefined;

  const axes = (counts, yTitle, max, tick) => {
    const grid = { color: colour("--line"), tickLength: 0, drawBorder: false };
    const ticks = { color: colour("--soft"), font: { size: 12 }, padding: 8 };
    const title = (text) => ({ display: true, text, color: colour("--soft"), font: { size: 12 } });
    const pad = Math.max(0.25, (Math.max(...counts) - Math.min(...counts)) * 0.05);
    return {
      x: {
        type: "linear",
        min: Math.min(...counts) - pad,
        max: Math.max(...counts) + pad,
        grid: { ...grid, display: false },
        ticks,
        title: title("loader threads"),
        afterBuildTicks: (axis) => (axis.ticks = counts.map((value) => ({ value }))),
      },
      y: { beginAtZero: true, suggestedMax: max, grid, ticks: { ...ticks, callback: tick, maxTicksLimit: 6 }, title: title(yTitle) },
    };
  };

  // A figure with a canvas; `config` is asked again when the colours change.
  const figure = (parent, title, text, alternative, config, wide = false) => {
    const canvas = element("canvas", { role: "img", "aria-label": alternative });
    const node = element("figure", {}, element("figcaption", {}, element("h3", {}, title), element("p", {}, text)), element("div", { class: "plot" }, canvas));
    if (wide) node.classList.add("wide");
    parent.append(node);
    let chart = null;
    const draw = () => {
      if (chart) chart.destroy();
      chart = new Chart(canvas, config());
    };
    charts.push(draw);
    draw();
    window.addEventListener("beforeprint", () => chart.resize());
  };

  const tooltip = (unit) => ({
    displayColors: false,
    callbacks: {
      title: (items) => threads(items[0].parsed.x ?? +items[0].label),
      label: (item) => `${item.dataset.label}: ${rate(item.parsed.y)} ${unit}`,
    },
  });

  const curveChart = (study, key, chosen, counts) => () => ({
    type: "line",
    data: {
      datasets: study.curves.map((curve, index) => ({
        label: curve.format,
        points: curve[key],
        data: curve[key].map((point) => ({ x: point.threads, y: point.images_per_second })),
        borderColor: seriesColour(index),
        backgroundColor: seriesColour(index),
        borderDash: dashes[index % dashes.length],
        pointStyle: marks[index % marks.length],
        pointRadius: 5,
        pointHoverRadius: 7,
        borderWidth: 2,
      })),
    },
    plugins: [annotations],
    options: {
      animation: false,
      maintainAspectRatio: false,
      interaction: { mode: "nearest", axis: "x", intersect: false },
      scales: axes(counts, "images/s", headroom(study.demand, chosen), (value) => short(value)),
      plugins: { legend: { display: false }, tooltip: tooltip("images/s"), annotations: { demand: study.demand?.images_per_second, chosen } },
    },
  });

  const stallChart = (study, counts) => () => ({
    type: "bar",
    data: {
      labels: counts,
      datasets: study.curves.map((curve, index) => ({
        label: curve.format,
        data: counts.map((count) => pointAt(curve.delivered, count)?.stall_percent ?? null),
        backgroundColor: seriesColour(index),
        maxBarThickness: 34,
        minBarLength: 2,
      })),
    },
    options: {
      animation: false,
      maintainAspectRatio: false,
      scales: {
        ...axes(counts, "% of training time", 10, (value) => `${value} %`),
        x: {
          grid: { display: false, drawBorder: false },
          ticks: { color: colour("--soft"), font: { size: 12 } },
          title: { display: true, text: "loader threads", color: colour("--soft"), font: { size: 12 } },
        },
      },
      plugins: { legend: { display: false }, tooltip: { ...tooltip("%"), callbacks: { title: (items) => threads(+items[0].label), label: (item) => `${item.dataset.label}: ${percent(item.parsed.y)}` } } },
    },
  });

  const describe = (study, key) =>
    study.curves.map((curve) => `${curve.format}: ` + curve[key].map((point) => `${rate(point.images_per_second)} with ${threads(point.threads)}`).join(", ")).join(". ");

  const formatTable = (study) => {
    const rows = study.curves.map((curve, index) => {
      const chosen = curve.format === study.verdict.format;
      const at = pointAt(curve.delivered, curve.delivered_knee);
      const supply = pointAt(curve.supply, curve.supply_knee);
      const name = cell(curve.format, { header: true });
      name.prepend(sample(index));
      if (chosen) name.append(element("span", { class: "tag" }, "chosen"));
      const row = element("tr", chosen ? { class: "chosen" } : {}, name);
      row.append(
        cell(at ? String(at.threads) : "–"),
        cell(at ? rate(at.images_per_second) : "–"),
        cell(at && study.demand ? percent((100 * at.images_per_second) / study.demand.images_per_second, 0) : "–"),
        cell(at ? percent(at.stall_percent) : "–"),
        cell(at ? percent(spread(at)) : "–"),
        cell(supply ? rate(supply.images_per_second) : "–"),
        cell(supply ? String(supply.threads) : "–"),
      );
      return row;
    });
    return table([["format", true], ["threads"], ["delivered images/s"], ["of demand"], ["stall"], ["spread"], ["best supply images/s"], ["at threads"]], rows);
  };

  const pointTable = (study) => {
    const rows = [];
    study.curves.forEach((curve, index) => {
      const counts = [...new Set([...curve.supply, ...curve.delivered].map((point) => point.threads))].sort((a, b) => a - b);
      counts.forEach((count) => {
        const supply = pointAt(curve.supply, count);
        const delivered = pointAt(curve.delivered, count);
        const chosen = curve.format === study.verdict.format && count === study.verdict.threads;
        const name = cell(curve.format, { header: true });
        name.prepend(sample(index));
        const row = element("tr", chosen ? { class: "chosen" } : {}, name);
        row.append(cell(String(count)), cell(rate(supply?.images_per_second)), cell(rate(delivered?.images_per_second)), cell(percent(delivered?.stall_percent)));
        rows.push(row);
      });
    });
    return table([["format", true], ["threads"], ["supply images/s"], ["delivered images/s"], ["stall"]], rows);
  };

  const scroll = (content, label) => element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, content);

  const drawStudy = (study, first) => {
    const section = element("section", {}, element("h2", {}, study.title));
    document.getElementById("studies").append(section);
    if (!first) section.append(element("p", { class: "answer" }, study.verdict.answer), element("p", { class: "note" }, study.verdict.reason));
    section.append(element("p", { class: "note" }, "The ring marks the point chosen; thin strokes reach from the slowest repeat to the fastest."));
    const legend = element("ul", { class: "legend" });
    study.curves.forEach((curve, index) => legend.append(element("li", {}, sample(index), curve.format)));
    if (study.demand) legend.append(element("li", {}, demandSample(), "demand"));
    const grid = element("div", { class: "charts" });
    section.append(legend, grid);
    const trained = study.curves.some((curve) => curve.delivered.length);
    const supplied = study.curves.some((curve) => curve.supply.length);
    const counts = [...new Set(study.curves.flatMap((curve) => [...curve.supply, ...curve.delivered]).map((point) => point.threads))].sort((a, b) => a - b);
    const chosen = { threads: study.verdict.threads, images_per_second: study.verdict.images_per_second };
    const line = study.demand ? `; the line is demand, ${rate(study.demand.images_per_second)}` : "";
    if (trained) {
      figure(grid, "Delivered", `What arrives while training, images/s${line}`, `Delivered images per second. ${describe(study, "delivered")}.`,
        curveChart(study, "delivered", study.verdict.format ? chosen : null, counts), !supplied);
    }
    if (supplied) {
      figure(grid, "Supply", `The loader alone, images/s${line}`, `Supplied images per second. ${describe(study, "supply")}.`,
        curveChart(study, "supply", trained || !study.verdict.format ? null : chosen, counts), !trained);
    }
    if (trained) {
      figure(grid, "Stall", "Share of training time spent waiting for data", `Stall in percent. ${study.curves.map((curve) => `${curve.format}: ` + curve.delivered.map((point) => `${percent(point.stall_percent)} with ${threads(point.threads)}`).join(", ")).join(". ")}.`,
        stallChart(study, counts), true);
    }
    section.append(element("h3", { class: "table" }, "Formats side by side"), element("p", { class: "note" }, "Each at the fewest threads that do as well as its own best: within 3\u00a0%, or within what its repeats differ by, up to 10\u00a0%."));
    section.append(scroll(formatTable(study), "Formats side by side, scrolls"));
    section.append(element("details", {}, element("summary", {}, "The points of the curves, as a table"), scroll(pointTable(study), "Points of the curves, scrolls")));
  };

  const figureItem = (name, value, detail) => element("div", {}, element("dt", {}, name), element("dd", {}, value, element("small", {}, detail)));

  const drawFigures = (study) => {
    const { verdict } = study;
    const node = document.getElementById("figures");
    const trained = verdict.stall_percent != null || verdict.demand != null;
    node.append(figureItem(trained ? "Delivered" : "Supply", rate(verdict.images_per_second), "images/s"));
    if (verdict.demand != null) {
      node.append(figureItem("Of demand", percent((100 * verdict.images_per_second) / verdict.demand, 0), `${rate(verdict.demand)} images/s`));
    }
    if (verdict.stall_percent != null) node.append(figureItem("Stall", percent(verdict.stall_percent), "of training time"));
    if (verdict.limit !== "unknown") node.append(figureItem("The limit", verdict.limit, "what holds the rate down"));
  };

  const drawMachine = (rows) => {
    const environment = rows[0].environment;
    const node = document.getElementById("machine");
    const item = (name, value, full) => node.append(element("div", full ? { class: "full" } : {}, element("dt", {}, name), element("dd", {}, full ? element("code", {}, value) : value)));
    item("Processor", `${environment.cpu}, ${environment.cores} core${environment.cores === 1 ? "" : "s"}`);
    item("Memory", `${round(environment.memory_mib / 1024)} GiB`);
    item("GPU", environment.gpu ?? "none");
    item("System", `${environment.os}, ${environment.kernel}`);
    item("Build", `feedrate ${environment.version}, ${environment.commit}, ${environment.build_type}`);
    item("Compiler", `${environment.compiler}, ${environment.flags}`);
    item("Measured", rows.map((row) => row.environment.time).sort()[0].replace("T", " ").replace("Z", " UTC"));
    item("Images", `digest ${rows[0].digest.slice(0, 16)}…`);
    item("Command", environment.command, true);
  };

  const drawRows = (rows) => {
    const order = ["demand", "supply", "delivered"];
    const sorted = [...rows].sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind) || a.format.localeCompare(b.format) || a.threads - b.threads);
    const body = sorted.map((row) => {
      const line = element("tr", {}, cell(row.kind, { header: true }));
      const low = Math.min(...row.repeats), high = Math.max(...row.repeats);
      line.append(
        cell(row.kind === "demand" ? "–" : `${row.format} × ${row.codec}`, { text: true }),
        cell(row.network ?? "–", { text: true }), cell(row.device ?? "–", { text: true }), cell(String(row.batch)),
        cell(row.threads == null ? "–" : String(row.threads)), cell(row.workers_seen == null ? "–" : String(row.workers_seen)),
        cell(row.compute_threads == null ? "–" : String(row.compute_threads)), cell(rate(row.images_per_second)),
        cell(`${rate(low)} – ${rate(high)}`), cell(String(row.repeats.length)), cell(percent(row.stall_percent)),
        cell(rate(row.cpu_seconds)), cell(rate(row.peak_rss_mib)), cell(rate(row.cpu_energy_j)), cell(rate(row.gpu_memory_mib)), cell(rate(row.gpu_power_w)));
      return line;
    });
    document.getElementById("all-rows").append(table([["kind", true], ["format", true], ["network", true], ["device", true], ["batch"], ["threads"], ["workers seen"], ["compute threads"],
      ["images/s"], ["range"], ["repeats"], ["stall"], ["CPU s"], ["peak MiB"], ["CPU J"], ["GPU MiB"], ["GPU W"]], body));
  };

  const drawDoubts = (sentences) => {
    if (!sentences.length) return;
    const node = document.getElementById("doubts");
    node.hidden = false;
    node.append(element("h2", {}, "Read with care"), element("ul", {}, ...sentences.map((text) => element("li", {}, text))));
  };

  const [first] = report.studies;
  const environment = report.rows[0].environment;
  document.getElementById("context").textContent = `${first.title} · ${environment.cpu}, ${environment.cores} core${environment.cores === 1 ? "" : "s"} · ${environment.time.slice(0, 10)}`;
  drawFigures(first);
  drawDoubts(report.doubts);
  report.studies.forEach((study, index) => drawStudy(study, index === 0));
  drawMachine(report.rows);
  drawRows(report.rows);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", reset);
})();

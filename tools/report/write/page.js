"use strict";
// What a page can do beyond being read: charts saved as files, rows filtered. Without a script
// everything is still there to be read.
(() => {
  const element = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  };

  const save = (name, blob) => {
    const address = URL.createObjectURL(blob);
    const link = element("a", { href: address, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  };

  // A chart that stands alone: with its size, its style and the card it lies on.
  const standalone = (chart) => {
    const copy = chart.cloneNode(true);
    const { width, height } = chart.viewBox.baseVal;
    copy.setAttribute("width", width);
    copy.setAttribute("height", height);
    const name = "http://www.w3.org/2000/svg";
    const style = document.createElementNS(name, "style");
    style.textContent = document.getElementById("charts-style").textContent;
    const card = document.createElementNS(name, "rect");
    for (const [key, value] of [["width", "100%"], ["height", "100%"], ["class", "card"]]) card.setAttribute(key, value);
    copy.prepend(style, card);
    return { text: new XMLSerializer().serializeToString(copy), width, height };
  };

  const picture = (chart) =>
    new Promise((resolve, reject) => {
      const { text, width, height } = standalone(chart);
      const image = new Image();
      image.onload = () => {
        const canvas = element("canvas", { width: 3 * width, height: 3 * height });
        canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
        canvas.toBlob(resolve, "image/png");
      };
      image.onerror = reject;
      image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
    });

  document.querySelectorAll("figure[data-name]").forEach((figure) => {
    const chart = figure.querySelector("svg");
    const { name, csv } = figure.dataset;
    const title = figure.querySelector("h3").textContent;
    const kinds = [
      ["SVG", () => save(`${name}.svg`, new Blob([standalone(chart).text], { type: "image/svg+xml" }))],
      ["PNG", async () => save(`${name}.png`, await picture(chart))],
      ["CSV", () => save(`${name}.csv`, new Blob([csv], { type: "text/csv" }))],
    ];
    const tools = element("p", { class: "tools" });
    kinds.forEach(([kind, work]) => {
      const button = element("button", { type: "button", "aria-label": `Save ${title} as ${kind}` }, kind);
      button.addEventListener("click", work);
      tools.append(button);
    });
    figure.append(tools);
  });

  // Rows that hold every word, numbers as whole cells; no word: all. Escape clears.
  const field = document.getElementById("words");
  const rows = [...document.querySelectorAll("#all-rows tbody tr")];
  const texts = rows.map((row) => [...row.cells].map((cell) => cell.textContent.toLowerCase()));
  const holds = (cells, word) => (/^[\d.,]+$/.test(word) ? cells.includes(word) : cells.some((cell) => cell.includes(word)));
  const filter = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, index) => {
      row.hidden = !words.every((word) => holds(texts[index], word));
      if (!row.hidden) shown += 1;
    });
    document.getElementById("found").textContent = `${shown} of ${rows.length} rows`;
  };
  field.addEventListener("input", filter);
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    field.value = "";
    filter();
  });
  document.getElementById("filter").hidden = false;
  filter();

  // Paper has nothing to unfold with.
  window.addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((node) => (node.open = true)));
})();

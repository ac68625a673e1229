// Draws the figures in the page's colours, sorts tables, hands out CSV, follows links into closed parts.
"use strict";
(() => {
  const root = document.documentElement;
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const narrow = () => window.innerWidth < 640;

  // A colour of the style sheet as plotly.js reads it: light-dark() is resolved only where a colour is used.
  const probe = document.createElement("span");
  probe.hidden = true;
  document.body.append(probe);
  let colors = new Map();
  function color(name) {
    if (!colors.has(name)) {
      probe.style.color = name;
      colors.set(name, getComputedStyle(probe).color);
    }
    return colors.get(name);
  }

  function colored(value) {
    if (typeof value === "string") return /^var\(--[\w-]+\)$/.test(value) ? color(value) : value;
    if (Array.isArray(value)) return value.map(colored);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, colored(inner)]));
  }

  function layoutOf(plot, named) {
    const layout = colored(plot.layout);
    const ink = color("var(--ink)"), muted = color("var(--muted)"), grid = color("var(--grid)");
    const font = { family: getComputedStyle(document.body).fontFamily, size: 12, color: ink };
    const axis = (given) => ({
      gridcolor: grid, linecolor: grid, tickcolor: grid, zerolinecolor: grid, ...given,
      tickfont: { color: given.ticktext && plot.layout.rows ? ink : muted, size: narrow() ? 10.5 : 12 },
      title: { ...given.title, font: { color: muted, size: 12 } },
    });
    const { rows, ...rest } = layout;
    const page = { ...rest, font, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", autosize: true, dragmode: narrow() ? false : "zoom" };
    page.hoverlabel = { bgcolor: color("var(--card)"), bordercolor: grid, font: { ...font, size: 12 }, align: "left" };
    page.legend = { ...page.legend, font: { color: ink, size: 12 }, traceorder: "normal" };
    page.modebar = { bgcolor: "rgba(0,0,0,0)", color: muted, activecolor: ink };
    page.xaxis = axis(page.xaxis);
    page.yaxis = axis(page.yaxis);
    page.height = plot.height;
    if (!named && !narrow()) page.yaxis.showticklabels = false;
    if (rows && narrow()) {
      // Long names would leave no room for what they name: they get lines.
      const labels = page.yaxis.ticktext.map((text) => text.replaceAll(" \u00b7 ", "<br>"));
      const most = Math.max(...labels.map((text) => text.split("<br>").length));
      page.yaxis.ticktext = labels;
      page.height += labels.length * Math.max(0, most * 13 - 22);
    }
    return page;
  }

  const config = { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"], showTips: false };

  function draw(element, name, plot) {
    // Companions stand beside the one that names their rows.
    const panel = element.closest(".panel");
    const layout = layoutOf(plot, !(panel.parentElement.matches(".companions") && panel.previousElementSibling));
    element.style.height = layout.height + "px";
    const picture = { format: "svg", filename: name };
    return Plotly.react(element, colored(plot.data), layout, { ...config, toImageButtonOptions: picture });
  }

  const plots = [];
  for (const figure of document.querySelectorAll("[data-figure]")) {
    const { id, plots: given } = figures[figure.dataset.figure];
    figure.querySelectorAll(".plot").forEach((element, n) => plots.push([element, given.length > 1 ? `${id}-${n + 1}` : id, given[n]]));
  }

  // One after the other, so that the page can be read meanwhile. Newer drawings overtake older ones.
  let drawing = 0;
  async function drawAll() {
    const mine = ++drawing;
    colors = new Map();
    for (const [element, name, plot] of plots) {
      if (mine !== drawing) return;
      await draw(element, name, plot);
      await new Promise((next) => setTimeout(next));
    }
    root.dataset.figures = "drawn";
  }

  // light, dark, or as the system has it. A page from file:// may have no storage.
  const button = document.getElementById("theme");
  const themes = ["system", "light", "dark"];
  function kept() {
    try { return localStorage.getItem("inrush-theme"); } catch { return null; }
  }
  function dress(theme, keep) {
    if (theme === "system") delete root.dataset.theme; else root.dataset.theme = theme;
    button.querySelector("span").textContent = theme;
    if (keep) try { localStorage.setItem("inrush-theme", theme); } catch { /* the switch works without */ }
  }
  dress(themes.includes(kept()) ? kept() : "system", false);
  button.addEventListener("click", () => {
    dress(themes[(themes.indexOf(root.dataset.theme ?? "system") + 1) % themes.length], true);
    drawAll();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  matchMedia("(max-width: 639px)").addEventListener("change", drawAll);

  // Paper is light. Printing does not wait, and drawing a figure again is done before it returns.
  let worn = null;
  addEventListener("beforeprint", () => {
    worn = root.dataset.theme ?? "system";
    dress("light", false);
    colors = new Map();
    for (const [element, name, plot] of plots) draw(element, name, plot);
  });
  addEventListener("afterprint", () => { dress(worn ?? "system", false); drawAll(); });

  // Tables: a click on a heading sorts, the next one turns the order round.
  const collator = new Intl.Collator("en", { numeric: true });
  function key(row, column, kind) {
    const cell = row.cells[column];
    if (!cell) return kind === "number" ? NaN : "";
    if (kind !== "number") return cell.textContent.trim();
    const text = cell.dataset.value ?? cell.textContent.replace(/,/g, "").trim();
    return text === "" ? NaN : parseFloat(text);
  }
  function sort(heading) {
    const table = heading.closest("table"), body = table.tBodies[0], kind = heading.dataset.sort;
    const down = heading.getAttribute("aria-sort") === (kind === "number" ? "descending" : "ascending") ? kind !== "number" : kind === "number";
    for (const other of table.querySelectorAll("[aria-sort]")) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    const rows = [...body.rows].map((row) => [key(row, heading.cellIndex, kind), row]);
    rows.sort(([a], [b]) => {
      if (kind !== "number") return (down ? -1 : 1) * collator.compare(a, b);
      // What has no figure stays below, whichever way.
      if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);
      return down ? b - a : a - b;
    });
    body.append(...rows.map(([, row]) => row));
  }
  for (const heading of document.querySelectorAll("table.sortable th[data-sort]")) {
    heading.tabIndex = 0;
    heading.addEventListener("click", () => sort(heading));
    heading.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(heading); }
    });
  }

  // CSV as RFC 4180 has it.
  const field = (value) => {
    const text = value === null ? "" : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const csv = ({ columns, rows }) => [columns, ...rows].map((row) => row.map(field).join(",") + "\r\n").join("");
  for (const button of document.querySelectorAll("[data-csv]")) {
    button.addEventListener("click", () => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([csv(figures[button.dataset.csv].csv)], { type: "text/csv" }));
      link.download = `${button.dataset.csv}.csv`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  }

  // A link may lead into a part that is closed.
  function reveal() {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let part = target.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
    target.scrollIntoView({ block: "center" });
  }
  addEventListener("hashchange", reveal);
  drawAll().then(() => { if (location.hash) reveal(); });
})();

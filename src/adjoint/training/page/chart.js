// A chart of curves by epoch, with a cursor that a pointer or the arrow keys move; the legend reads the values there.
const EPOCHS = DATA.epochs;
const LARGEST = 1e300; // that an axis shows, so that there is room above

class Chart {
  // curves: [{name, values, kind, colour}]; onMove(index, isFinal) is called by the cursor.
  constructor(box, {title, curves, isLog = false, hasLegend = true, best = null, ratio = 0.52, height, onMove}) {
    Object.assign(this, {box, title, curves, isLog, best, ratio, height, onMove});
    this.legend = make("ul", {class: "legend", hidden: ""});
    this.legend.hidden = !hasLegend;
    this.values = curves.map(() => make("span", {class: "value"}));
    this.epoch = make("li", {class: "epoch"});
    this.legend.append(this.epoch, ...curves.map((curve, k) => make("li", {},
      make("span", {class: `swatch ${curve.kind}`}), make("span", {}, curve.name), this.values[k])));
    this.plot = make("div", {
      class: "plot", tabindex: 0, role: "slider", "aria-label": `${title} by epoch`, "aria-valuemin": EPOCHS[0],
      "aria-valuemax": EPOCHS[EPOCHS.length - 1], "aria-orientation": "horizontal",
    });
    this.at = EPOCHS.length - 1;
    box.append(this.legend, this.plot);
    this.listen();
    new ResizeObserver(() => { if (this.plot.clientWidth !== this.width) this.draw(); }).observe(this.plot);
  }

  listen() {
    const {plot} = this;
    const index = event => this.nearest(event.clientX - plot.getBoundingClientRect().left);
    plot.addEventListener("pointermove", event => this.onMove(index(event), false));
    plot.addEventListener("pointerleave", () => this.onMove(null, false));
    plot.addEventListener("pointerdown", event => this.onMove(index(event), true));
    plot.addEventListener("keydown", event => {
      const last = EPOCHS.length - 1, page = max(1, round(EPOCHS.length / 10)), at = clamp(this.at, 0, last);
      const to = {
        ArrowRight: at + 1, ArrowUp: at + 1, ArrowLeft: at - 1, ArrowDown: at - 1, PageUp: at + page,
        PageDown: at - page, Home: 0, End: last,
      }[event.key];
      if (to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      event.stopPropagation();
      this.onMove(clamp(to, 0, last), true);
    });
  }

  setLog(isLog) {
    this.isLog = isLog;
    this.draw();
  }

  isShown(v) {
    return abs(v) <= LARGEST && (!this.isLog || v >= 1 / LARGEST);
  }
  range() {
    const all = this.curves.flatMap(c => c.values).filter(v => this.isShown(v));
    let low = Infinity, high = -Infinity;
    for (const v of all) { low = min(low, v); high = max(high, v); }
    if (low > high) [low, high] = this.isLog ? [0.1, 1] : [0, 1];
    if (this.isLog) {
      const pad = max(0.04 * log10(high / low), 0.05);
      return [max(1 / LARGEST, low / 10 ** pad), min(LARGEST, high * 10 ** pad)];
    }
    const pad = 0.05 * (high - low) || abs(high) / 2 || 1;
    // From 0, where that is near enough.
    const from = low >= 0 && low < 0.4 * high ? 0 : low - pad;
    return [from, high <= 1 && high + pad > 1 && low >= 0 ? 1 : high + pad];
  }

  draw() {
    const width = this.plot.clientWidth;
    if (!width || !EPOCHS.length) return;
    const height = round(clamp(width * this.ratio, ...this.height)), [low, high] = this.range();
    this.width = width;
    const marks = (this.isLog ? logTicks : ticks)(low, high, max(2, floor(height / 44)));
    const left = 14 + 7 * max(2, ...marks.map(([, text]) => text.length)), right = width - 12, top = 10, bottom = height - 26;
    const scale = this.isLog ? Math.log : x => x;
    const [from, to] = EPOCHS.length > 1 ? [EPOCHS[0], EPOCHS[EPOCHS.length - 1]] : [EPOCHS[0] - 1, EPOCHS[0] + 1];
    this.x = epoch => left + (right - left) * (clamp(epoch, from, to) - from) / (to - from);
    this.y = v => bottom - (bottom - top) * (scale(v) - scale(low)) / (scale(high) - scale(low));
    const svg = make("svg", {viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true"});
    for (const [v, text] of marks) {
      const y = this.y(v);
      svg.append(make("line", {class: "grid", x1: left, x2: right, y1: y, y2: y}),
        make("text", {class: "tick", x: left - 7, y: y + 4, "text-anchor": "end"}, text));
    }
    for (const [epoch, text] of this.epochTicks(from, to, max(2, floor((right - left) / 70)))) {
      const x = this.x(epoch), anchor = x > right - 14 ? "end" : "middle";
      svg.append(make("line", {class: "notch", x1: x, x2: x, y1: bottom, y2: bottom + 4}),
        make("text", {class: "tick", x: anchor === "end" ? right : x, y: height - 7, "text-anchor": anchor}, text));
    }
    svg.append(make("line", {class: "axis", x1: left, x2: right, y1: bottom, y2: bottom}));
    this.rule = make("line", {class: "cursor", y1: top, y2: bottom});
    svg.append(this.rule);
    this.dots = this.curves.map(curve => {
      const line = make("path", {class: `curve ${curve.kind}`, d: this.path(curve.values)});
      const dot = make("circle", {class: `dot ${curve.kind}`, r: 4});
      if (curve.colour) for (const e of [line, dot]) e.style.setProperty("--own", curve.colour);
      svg.append(line);
      return dot;
    });
    if (this.best !== null) this.markBest(svg, left, right);
    svg.append(...this.dots);
    this.plot.replaceChildren(svg);
    this.show(this.at);
  }

  // Whole epochs, the first one too where it stands clear of the others.
  epochTicks(from, to, most) {
    if (EPOCHS.length === 1) return [[EPOCHS[0], String(EPOCHS[0])]];
    const found = ticks(from, to, most).filter(([epoch]) => Number.isInteger(epoch)).map(([e]) => [e, e.toLocaleString("en")]);
    const isClear = found.length && found[0][0] > from && this.x(found[0][0]) - this.x(from) > max(34, 0.55 * (this.x(found[1]?.[0] ?? to) - this.x(found[0][0])));
    return isClear ? [[from, String(from)], ...found] : found;
  }

  // A line through what are numbers; one that stands alone is a dot.
  path(values) {
    const isShown = v => this.isShown(v);
    let path = "", pen = false;
    values.forEach((v, k) => {
      if (!isShown(v)) { pen = false; return; }
      path += `${pen ? "L" : "M"}${this.x(EPOCHS[k]).toFixed(1)},${this.y(v).toFixed(1)}`;
      if (!pen && !isShown(values[k + 1])) path += "h0.01";
      pen = true;
    });
    return path;
  }

  markBest(svg, left, right) {
    const {values} = this.curves[this.best];
    let at = -1;
    values.forEach((v, k) => { if (Number.isFinite(v) && (at < 0 || v < values[at])) at = k; });
    const isPlain = this.curves.length === 1 && at === values.length - 1; // the end of a line needs no mark
    if (at < 0 || isPlain || !this.isShown(values[at])) return;
    const x = this.x(EPOCHS[at]), y = this.y(values[at]), text = `best ${numberText(values[at])} at ${EPOCHS[at]}`;
    const anchor = x > right - 60 ? "end" : x < left + 60 ? "start" : "middle";
    const dx = anchor === "end" ? 6 : anchor === "start" ? -6 : 0;
    svg.append(make("circle", {class: "best", cx: x, cy: y, r: 5.5}),
      make("text", {class: "note", x: x + dx, y: y > 40 ? y - 12 : y + 22, "text-anchor": anchor}, text));
  }

  nearest(x) {
    const ends = [EPOCHS[0], EPOCHS[EPOCHS.length - 1]].map(this.x), t = (x - ends[0]) / (ends[1] - ends[0] || 1);
    return nearestEpoch(EPOCHS[0] + clamp(t, 0, 1) * (EPOCHS[EPOCHS.length - 1] - EPOCHS[0]));
  }

  // The cursor at one of the epochs; -1 is before training.
  show(at) {
    this.at = at;
    const texts = this.curves.map(c => (at < 0 ? "–" : numberText(c.values[at])));
    this.values.forEach((e, k) => {
      e.textContent = texts[k];
      e.classList.toggle("bad", at >= 0 && !Number.isFinite(this.curves[k].values[at]));
    });
    this.epoch.textContent = at < 0 ? "before training" : epochName(EPOCHS[at]);
    this.plot.setAttribute("aria-valuenow", EPOCHS[max(0, at)]);
    const said = this.curves.slice(0, 8).map((c, k) => `${c.name} ${texts[k]}`).join(", ");
    this.plot.setAttribute("aria-valuetext", `${this.epoch.textContent}: ${said}`);
    if (!this.rule) return;
    const x = this.x(at < 0 ? 0 : EPOCHS[at]);
    this.rule.setAttribute("x1", x);
    this.rule.setAttribute("x2", x);
    this.dots.forEach((dot, k) => {
      const v = at < 0 ? NaN : this.curves[k].values[at], isShown = this.isShown(v);
      dot.setAttribute("visibility", isShown ? "visible" : "hidden");
      if (!isShown) return;
      dot.setAttribute("cx", x);
      dot.setAttribute("cy", this.y(v));
    });
  }
}

// The place of the shown epoch nearest to one.
function nearestEpoch(epoch) {
  let low = 0, high = EPOCHS.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (EPOCHS[middle] <= epoch) low = middle; else high = middle;
  }
  return epoch - EPOCHS[low] <= EPOCHS[high] - epoch ? low : high;
}

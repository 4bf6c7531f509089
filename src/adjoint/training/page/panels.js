// The charts, the layers and the table.
const FAR = 1000; // between first and last layer: from here on a gradient vanishes or explodes

class Curves {
  constructor(onMove) {
    this.charts = [];
    for (const {quantity, curves} of EPOCHS.length ? DATA.charts : []) {
      const isLoss = quantity === "loss", found = curves.map(c => ({...c, values: c.values.map(toNumber)}));
      const all = found.flatMap(c => c.values).filter(Number.isFinite);
      const positive = all.length > 0 && all.every(v => v > 0), ratio = positive ? greatest(all) / -greatest(all.map(v => -v)) : 1;
      const box = isLoss ? find("loss") : find("metrics").appendChild(make("div", {class: "metric"}));
      const validation = found.findIndex(c => c.kind === "validation");
      const chart = new Chart(box, {
        title: quantity, curves: found, onMove, isLog: ratio > (isLoss ? 30 : 1000),
        best: isLoss && all.length > 2 ? max(0, validation) : null, ratio: isLoss || DATA.charts.length > 2 ? 0.52 : 0.74,
        height: isLoss ? [200, 330] : [150, 330],
      });
      this.charts.push(chart);
      find(isLoss ? "loss-panel" : "metrics-panel").hidden = false;
      if (isLoss) this.buildSwitch(chart, all.some(v => v > 0));
    }
  }

  buildSwitch(chart, isPossible) {
    const button = find("log");
    button.hidden = !isPossible;
    button.setAttribute("aria-checked", chart.isLog);
    button.addEventListener("click", () => {
      chart.setLog(!chart.isLog);
      button.setAttribute("aria-checked", chart.isLog);
    });
  }

  show(at) {
    for (const chart of this.charts) chart.show(at);
  }
}
const greatest = values => values.reduce((a, b) => max(a, b), -Infinity);

// A line and a row for each layer, coloured by depth.
class Gradients {
  constructor(onMove) {
    const count = DATA.layers.length;
    this.layers = DATA.layers.map(({name, values}, k) => ({
      name, values: values.map(toNumber), kind: "layer", colour: depthColour(k, count),
    }));
    find("gradients-panel").hidden = !count || !EPOCHS.length;
    if (!count || !EPOCHS.length) return;
    const all = this.layers.flatMap(l => l.values).filter(v => Number.isFinite(v) && v > 0);
    this.low = all.length ? log10(-greatest(all.map(v => -v))) - 0.3 : -1;
    this.high = all.length ? log10(greatest(all)) : 0;
    this.chart = new Chart(find("gradients-chart"), {
      title: "norm of the gradient", curves: this.layers, isLog: true, hasLegend: false, height: [250, 360],
      ratio: DATA.boundary ? 0.8 : 0.52, onMove,
    });
    this.rows = this.layers.map(({name, colour: own}) => {
      const bar = make("span", {class: "bar"}), value = make("span", {class: "value"});
      const row = make("li", {}, make("span", {class: "name", title: name}, name), make("span", {class: "track-bar"}, bar), value);
      row.style.setProperty("--own", own);
      find("layers").append(row);
      return {bar, value};
    });
  }

  show(at) {
    if (!this.chart) return;
    this.chart.show(at);
    this.layers.forEach(({values}, k) => {
      const v = at < 0 ? NaN : values[at], {bar, value} = this.rows[k];
      const part = v > 0 ? clamp((log10(v) - this.low) / (this.high - this.low || 1), 0, 1) : 0;
      bar.style.setProperty("width", `${(100 * part).toFixed(1)}%`);
      value.textContent = at < 0 ? "–" : numberText(v, 3);
      value.classList.toggle("bad", at >= 0 && !Number.isFinite(v));
    });
    find("verdict").textContent = at < 0 ? "Before training there is no gradient yet." : this.verdict(at);
  }

  verdict(at) {
    // norms.0 comes after layers.3 by name, and before it in the model: layers are compared with their like
    const kind = layer => layer.name.replace(/\d+$/, ""), first = this.layers[0];
    const last = this.layers.slice(1).filter(layer => kind(layer) === kind(first)).pop() ?? this.layers[this.layers.length - 1];
    const ratio = first.values[at] / last.values[at], when = `At ${epochName(EPOCHS[at])}`;
    if (first === last) return `${when}: ${numberText(first.values[at], 3)}.`;
    if (!Number.isFinite(ratio)) return `${when} the gradient is not a finite number everywhere.`;
    const of = `${when} the gradient of ${first.name}, at the input, is `;
    if (ratio === 0) return `${of}0: it has vanished.`;
    if (ratio <= 1 / FAR) return `${of}${numberText(1 / ratio, 2)} times smaller than that of ${last.name}: it vanishes on the way back.`;
    if (ratio >= FAR) return `${of}${numberText(ratio, 2)} times larger than that of ${last.name}: it explodes on the way back.`;
    return `${of}${numberText(ratio, 2)} times that of ${last.name}.`;
  }
}

function buildFacts() {
  const box = find("facts");
  box.hidden = !DATA.facts.length;
  box.append(...DATA.facts.map(([name, text]) => make("div", {}, make("dt", {}, name), make("dd", {}, text))));
}

// All numbers as a table, made when it is first asked for.
function buildTable() {
  const details = find("numbers"), columns = [
    ...DATA.charts.flatMap(c => c.curves), ...DATA.layers.map(l => ({name: `gradient of ${l.name}`, values: l.values})),
  ];
  details.hidden = !columns.length || !EPOCHS.length;
  const fill = () => {
    if (find("table-box").children.length) return;
    const head = ["epoch", ...columns.map(c => c.name)].map(name => make("th", {scope: "col"}, name));
    const rows = EPOCHS.map((epoch, k) => make("tr", {}, make("th", {scope: "row"}, String(epoch)),
      ...columns.map(c => make("td", {}, numberText(toNumber(c.values[k]), 6)))));
    const some = EPOCHS.length < DATA.total ? ` (${EPOCHS.length.toLocaleString("en")} of ${DATA.total.toLocaleString("en")} epochs)` : "";
    find("table-box").append(make("table", {}, make("caption", {}, `Numbers by epoch${some}`),
      make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows)));
  };
  details.addEventListener("toggle", fill);
  addEventListener("beforeprint", () => { if (details.open) fill(); });
}

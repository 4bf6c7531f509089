// The graph and the table.
const SVG = "http://www.w3.org/2000/svg";
const find = id => document.getElementById(id);

function make(tag, attributes = {}, ...children) {
  const inSvg = ["svg", "g", "rect", "text", "tspan", "path", "defs", "marker", "title"].includes(tag);
  const element = inSvg ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}
const shorten = (text, most) => ([...text].length > most ? `${[...text].slice(0, most - 1).join("")}…` : text);
// Without the middle, where the end tells more: the place in "params[0][1]", the shape in "[0.5, 1, … 2] 64×64".
function withoutMiddle(text, most, end) {
  const all = [...text], head = all.slice(0, Math.max(1, most - 1 - end)).join("").replace(/[ ,…]+$/, "");
  return all.length > most ? `${head}…${all.slice(all.length - end).join("")}` : text;
}
function shortValue(text, most) {
  const shape = /\] (\d+(×\d+)*)$/.exec(text);
  return shape ? withoutMiddle(text, most, shape[1].length + 1) : shorten(text, most);
}

// A text whose numbers are never broken at the end of a line; the rest of a formula may be.
const NUMBER = /([-−]?(?:\d+\.?\d*(?:e[-+]?\d+)?|inf|nan)(?![\p{L}\p{N}_])[\]),;]*)/u;
function unbroken(text) {
  return text.split(NUMBER).map((part, k) => (k % 2 ? make("span", {class: "whole"}, part) : part)).filter(Boolean);
}
const write = (element, text) => element.replaceChildren(...unbroken(text));

// Keep elements in sight inside their own box, without moving the page; the first ones, if all do not fit.
function reveal(elements, box) {
  const outer = box.getBoundingClientRect(), head = box.querySelector("thead");
  const above = head ? head.offsetHeight + 8 : 12;
  let inner = null;
  for (const element of elements) {
    const rect = element.getBoundingClientRect(), both = inner ? union(inner, rect) : rect;
    const fits = both.right - both.left < box.clientWidth - 40 && both.bottom - both.top < box.clientHeight - 60;
    if (!inner || fits) inner = both;
  }
  if (!inner) return;
  const shift = (low, high, from, to) => {
    if (low < from) return low - from - 32;
    return high > to ? min(high - to + 32, low - from) : 0;
  };
  const left = shift(inner.left, inner.right, outer.left + 12, outer.right - 24);
  const top = shift(inner.top, inner.bottom, outer.top + above, outer.bottom - 20);
  const smooth = !matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (left || top) box.scrollBy({left, top, behavior: smooth ? "smooth" : "instant"});
}

const union = (a, b) => ({
  left: min(a.left, b.left), right: max(a.right, b.right), top: min(a.top, b.top), bottom: max(a.bottom, b.bottom),
});

// A curve between layers, a straight piece past the boxes of a layer, and so on.
function pathOf(points, downwards) {
  let path = `M${points[0]}`;
  for (let k = 1; k < points.length; k++) {
    const [x, y] = points[k - 1], [to, down] = points[k];
    if (k % 2 === 0) path += `L${to},${down}`;
    else if (downwards) path += `C${x},${(y + down) / 2},${to},${(y + down) / 2},${to},${down}`;
    else path += `C${(x + to) / 2},${y},${(x + to) / 2},${down},${to},${down}`;
  }
  return path;
}

const arrowhead = id => make("marker", {
  id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, markerUnits: "userSpaceOnUse",
  orient: "auto-start-reverse",
}, make("path", {d: "M0,0L8,4L0,8z"}));

// What a node does at a step, as the class that highlights it.
function partOf(node, moment) {
  const is = {
    start: () => node.kind === "input" && "computing",
    forward: () => {
      if (moment.node === node) return "computing";
      return moment.node.edges.some(edge => edge.from === node.id) && "operand";
    },
    seed: () => DATA.outputs.includes(node.id) && "receiving",
    reverse: () => (moment.edge.from === node.id ? "receiving" : moment.node === node && "giving"),
    done: () => (hasAdjoints ? node.kind === "input" && "receiving" : DATA.outputs.includes(node.id) && "computing"),
  };
  return is[moment.kind]() || "";
}

class Graph {
  constructor(box) {
    this.box = box;
  }

  // Draw from left to right where there is room, else downwards.
  draw() {
    const room = this.box.clientWidth, downwards = room < 680;
    const {width, height, boxes, edges, labels, size} = downwards ? DATA.layout.tall : DATA.layout.wide;
    // As large as there is room for, but never too small to read: then the box scrolls.
    const fits = room / width >= 0.8, tallest = downwards ? Infinity : 0.34 * innerHeight;
    const least = downwards ? 0.72 : fits ? 0.8 : 0.92;
    const scale = max(least, min(1.25, room / width, tallest / height));
    const svg = make("svg", {
      viewBox: `0 0 ${width} ${height}`, width: floor(width * scale), height: floor(height * scale), role: "img",
      "aria-label": `Graph of ${DATA.nodes.length} nodes; the table below has the same numbers`,
    }, make("defs", {}, ...["tip", "tip-value", "tip-adjoint"].map(arrowhead)));
    this.edges = [];
    this.nodes = {};
    let at = 0;
    for (const node of DATA.nodes) {
      for (const edge of node.edges) {
        const [x, y] = labels[at], text = make("text", {x, y: y + 4, "text-anchor": "middle"});
        const ground = make("rect", {x, y: y - 7, height: 14, rx: 4});
        const group = make("g", {class: "edge"}, make("path", {d: pathOf(edges[at], downwards)}));
        const mark = make("g", {class: "mark"}, ground, text);
        this.edges.push({group, mark, text, ground, x, node, edge, k: node.edges.indexOf(edge)});
        at++;
      }
    }
    // All numbers above all curves, so that no curve crosses one out.
    svg.append(...this.edges.map(e => e.group), ...this.edges.map(e => e.mark));
    DATA.nodes.forEach((node, k) => { svg.append(this.drawNode(node, boxes[k], size)); });
    this.box.replaceChildren(svg);
  }

  drawNode(node, [x, y], [w, h]) {
    const line = (cls, dy, ...content) => make("text", {class: cls, x, y: y + dy, "text-anchor": "middle"}, ...content);
    const name = withoutMiddle(node.shown, 11, 6), otherName = node.label === node.shown ? node.name : node.label;
    const also = node.kind === "input" ? otherName : node.formula;
    const room = floor((w - 14 - 7.7 * name.length) / 6.7);
    const beside = also && room > 2 ? [make("tspan", {class: "formula", dx: 6}, shorten(also, room))] : [];
    const from = -h / 2, value = line("value", from + 34), tangent = hasTangents ? [line("tangent", from + 52)] : [];
    const adjoint = hasAdjoints ? [line("adjoint", h / 2 - 8)] : [];
    const group = make("g", {class: `node ${node.kind}`, "data-node": node.id},
      make("rect", {x: x - w / 2, y: y - h / 2, width: w, height: h, rx: 9}),
      line("title", from + 16, name, ...beside), value, ...tangent, ...adjoint,
      make("title", {}, [`${node.shown} = ${node.formula}`, node.shape, node.line].filter(Boolean).join("\n")));
    this.nodes[node.id] = {group, value, tangent: tangent[0], adjoint: adjoint[0], room: floor((w - 8) / 7.85)};
    return group;
  }

  show(moment, step, state) {
    for (const {group, mark, text, ground, x, node, edge, k} of this.edges) {
      const known = state.known.has(node.id);
      text.textContent = shorten(numberText(DATA.live ? PROGRAM.partials[node.id][k](state.v) : edge.partial), 10);
      const wide = text.textContent && 6.7 * text.textContent.length + 6;
      ground.setAttribute("x", x - wide / 2);
      ground.setAttribute("width", wide || 0);
      const isNow = moment.kind === "forward" ? moment.node === node : moment.edge === edge;
      const now = isNow ? moment.kind : "";
      group.setAttribute("class", `edge ${known ? "" : "pending"} ${now}`);
      mark.setAttribute("class", `mark ${known ? "" : "pending"} ${now}`);
      if (now) group.parentNode.insertBefore(group, this.edges[0].mark);
    }
    for (const node of DATA.nodes) {
      const {group, value, tangent, adjoint, room} = this.nodes[node.id], id = node.id;
      group.setAttribute("class", `node ${node.kind} ${partOf(node, moment)} ${state.known.has(id) ? "" : "pending"}`);
      value.textContent = state.known.has(id) ? shortValue(numberText(state.v[id]), room) : "";
      if (tangent) {
        const dot = [...node.dot].length > 4 ? "d" : node.dot, left = room - 1 - dot.length;
        tangent.textContent = state.known.has(id) ? `${dot} ${shortValue(tangentText(id, state.moved), left)}` : "";
      }
      if (!adjoint) continue;
      const total = state.totals[id], more = (lastTo.get(id) ?? -1) >= state.done;
      const soFar = total === undefined ? "" : `∇ ${shortValue(numberText(total), more ? room - 5 : room - 2)}`;
      adjoint.textContent = soFar && more ? `${soFar} + …` : soFar;
    }
    const parts = [".computing, .receiving", ".operand, .giving"];
    reveal(parts.flatMap(part => [...this.box.querySelectorAll(part)]), this.box);
  }
}

const HALVES = [...(hasTangents ? ["middle"] : []), ...(hasAdjoints ? ["right"] : [])]; // what stands beside the values
function constantRow([name, value]) {
  const nothing = HALVES.flatMap(half => [half, `${half} number`]).map(cls => make("td", {class: cls}));
  return make("tr", {}, make("th", {class: "left", scope: "row"}, `${name}, a constant`),
    make("td", {class: "left number"}, ...unbroken(value)), ...nothing);
}

// A branch or a loop of the function, and how it fell out.
function decisionRow({text, line}) {
  return make("tr", {class: "decision"}, make("th", {class: "left", scope: "row"}, text),
    make("td", {class: "left number"}, line), ...HALVES.map(half => make("td", {class: half, colspan: 2})));
}

const READING = {
  reverse: "Read the left half downwards, then the right half upwards.",
  forward: "Read downwards: each row has a value and its tangent.",
  both: "Read the values and tangents downwards, then the adjoints upwards.",
};
class Table {
  constructor(box, go) {
    this.box = box;
    this.cells = TIMELINE.map(() => []);
    this.left = {};
    this.middle = {};
    this.right = [];
    this.outputs = [];
    const body = make("tbody"), decisions = at => DATA.decisions.filter(d => d.before === at).map(decisionRow);
    for (const node of DATA.nodes) body.append(...decisions(node.id), ...this.rowsOf(node));
    body.append(...decisions(DATA.nodes.length));
    RESULTS.forEach((result, k) => body.append(this.outputRow(result, k)));
    body.append(...DATA.constants.map(constantRow));
    body.addEventListener("click", event => {
      const cell = event.target.closest("[data-step]");
      if (cell && !String(getSelection())) go(Number(cell.dataset.step));
    });
    box.replaceChildren(make("table", {},
      make("caption", {}, `${READING[DATA.mode]} Click a row to go there.`),
      make("thead", {}, make("tr", {},
        ...[
          ["left forward", "Forward primal trace ↓"], ["left number forward", "value"],
          ...(hasTangents ? [["middle moving", "Forward tangent trace ↓"], ["middle number moving", "tangent"]] : []),
          ...(hasAdjoints ? [["right reverse", "Reverse adjoint trace ↑"], ["right number reverse", "adjoint"]] : []),
        ].map(([cls, text]) => make("th", {scope: "col", class: cls}, text)))),
      body));
  }

  cell(tag, side, step, content, attributes = {}) {
    const cell = make(tag, {class: side, "data-step": step, ...attributes}, ...content);
    this.cells[step].push(cell);
    return cell;
  }

  // A node's row and, beside it, what it hands back: the last operand on top, so that upwards is the order in time.
  rowsOf(node) {
    const isInput = node.kind === "input", moments = TIMELINE.map((moment, at) => ({...moment, at}));
    const step = isInput ? 0 : moments.find(m => m.kind === "forward" && m.node === node).at;
    const back = moments.filter(m => m.kind === "reverse" && m.node === node).reverse();
    const span = {rowspan: Math.max(1, back.length)};
    const also = !isInput && node.shown !== node.name ? [make("span", {class: "also"}, `${node.name}  `)] : [];
    const meaning = isInput ? node.label : node.formula;
    const definition = [isInput ? node.name : node.shown, meaning].filter(Boolean).join(" = ");
    const shape = node.shape ? [make("span", {class: "shape"}, node.shape)] : [];
    const value = make("span");
    this.left[node.id] = value;
    const left = [
      this.cell("th", "left", step, [...also, ...unbroken(definition), ...shape], {scope: "row", ...span}),
      this.cell("td", "left number", step, [value], span),
      ...(hasTangents ? this.middleCells(step, node.id, node.dot, span) : []),
    ];
    if (!hasAdjoints) return [make("tr", {}, ...left)];
    if (isInput) {
      const wanted = node.label || node.name, text = [`∇${wanted} = ∂${RESULT}/∂${wanted}`];
      const last = node.gradient === undefined ? `∇${node.shown}` : `conj(∇${node.name})`;
      if (last !== `∇${wanted}`) text.push(` = ${last}`);
      return [make("tr", {}, ...left, ...this.rightCells(TIMELINE.length - 1, text, node.id, "final"))];
    }
    if (!back.length) {
      const why = node.edges.length ? "not used by the result" : "";
      return [make("tr", {}, ...left, make("td", {class: "right pending"}, why), make("td", {class: "right number"}))];
    }
    return back.map(({index, at}, k) =>
      make("tr", {class: k ? "again" : ""}, ...(k ? [] : left), ...this.rightCells(at, [], index)));
  }

  middleCells(step, key, name, span = {}) {
    const formula = make("span"), value = make("span");
    this.middle[key] = {name, formula, value};
    return [this.cell("td", "middle", step, [formula], span), this.cell("td", "middle number", step, [value], span)];
  }

  outputRow({id, name, called, seed, text, dot}, k) {
    const value = make("span"), is = name === called ? [make("span", {class: "also"}, "  the result")] : [];
    const before = RESULTS.slice(0, k).some(r => r.called === called) ? `∇${called} + ` : "";
    this.outputs.push(value);
    return make("tr", {},
      this.cell("th", "left", SEED_AT, [text, ...is], {scope: "row"}),
      this.cell("td", "left number", SEED_AT, [value]),
      ...(hasTangents ? this.middleCells(SEED_AT, `result ${k}`, dot) : []),
      ...(!hasAdjoints ? [] : this.rightCells(SEED_AT, [`∇${called} = ${before}${numberText(seed)}`], k)));
  }

  rightCells(step, text, key, extra = "") {
    const formula = make("span", {}, ...text), value = make("span");
    this.right.push({step, key, formula, value});
    return [
      this.cell("td", `right ${extra}`, step, [formula]), this.cell("td", `right number ${extra}`, step, [value]),
    ];
  }

  // New numbers, after an input has changed.
  fill({v, moved, sweep, final}) {
    for (const node of DATA.nodes) write(this.left[node.id], numberText(v[node.id]));
    RESULTS.forEach((result, k) => write(this.outputs[k], result.value ?? numberText(v[result.id])));
    if (hasTangents) fillTangents(this.middle, moved);
    for (const {step, key, formula, value} of this.right) {
      const {kind} = TIMELINE[step], record = sweep.records[key];
      if (kind === "reverse") {
        write(formula, `∇${targetOf(record.edge)} = ${contribution(record)}`);
        write(value, numberText(record.total));
      } else write(value, numberText(kind === "seed" ? seedTotal(key) : NODE[key].gradient ?? final[key]));
    }
  }

  show(step) {
    this.cells.forEach((cells, at) => cells.forEach(cell => {
      cell.classList.toggle("pending", at > step);
      cell.classList.toggle("active", at === step);
    }));
    reveal(this.cells[step].slice(0, 4), this.box);
  }
}

// What a model of two inputs says over the plane: classes or a number, interpolated between the recorded values.
const SHAPES = [
  (c, x, y, r) => c.arc(x, y, r, 0, 2 * Math.PI),
  (c, x, y, r) => c.rect(x - 0.9 * r, y - 0.9 * r, 1.8 * r, 1.8 * r),
  (c, x, y, r) => polygon(c, x, y, 1.25 * r, 3, -0.25),
  (c, x, y, r) => polygon(c, x, y, 1.2 * r, 4, -0.25),
  (c, x, y, r) => polygon(c, x, y, 1.25 * r, 3, 0.25),
  (c, x, y, r) => polygon(c, x, y, 1.15 * r, 5, -0.25),
];
function polygon(context, x, y, r, corners, turn) {
  for (let k = 0; k < corners; k++) {
    const angle = 2 * Math.PI * (turn + k / corners);
    context.lineTo(x + r * Math.cos(angle), y + r * Math.sin(angle));
  }
  context.closePath();
}

class Plane {
  constructor(bytes, start) {
    const {size: [rows, columns], kind, horizontal, vertical} = DATA.boundary;
    Object.assign(this, {rows, columns, frame: 0, isClasses: kind === "classes"});
    this.frames = framesOf(bytes, start, rows * columns);
    this.probe = new Probe({
      name: "", rows, columns, by: max(1, round(columns / 40)),
      cellAt: (x, y) => [clamp(round(y * (rows - 1)), 0, rows - 1), clamp(round(x * (columns - 1)), 0, columns - 1)],
      boxOf: (row, column) => [(column - 0.5) / (columns - 1), (row - 0.5) / (rows - 1), 1 / (columns - 1), 1 / (rows - 1)],
      say: (row, column) => this.say(row, column),
    });
    this.ratio = clamp((vertical[1] - vertical[0]) / (horizontal[1] - horizontal[0]) || 1, 0.55, 1.1);
    this.probe.frame.style.setProperty("aspect-ratio", `1 / ${this.ratio}`);
    const ends = axis => axis.map(v => make("span", {}, numberText(v, 3)));
    const box = make("div", {class: "plane"}, make("div", {class: "up"}, ...ends([...vertical].reverse())), this.probe.frame,
      make("div", {class: "across"}, ...ends(horizontal)));
    find("boundary").append(box, this.probe.readout, this.legend());
    find("boundary-panel").hidden = false;
    if (!this.isClasses && !DATA.boundary.decides) find("boundary-title").textContent = "What the model says";
    new ResizeObserver(() => this.draw()).observe(this.probe.frame);
  }

  legend() {
    const {names, labels, of, decides} = DATA.boundary, list = make("ul", {class: "legend classes"});
    names.slice(0, 12).forEach((name, k) => {
      const key = make("canvas", {width: 28, height: 28, class: "key", "aria-hidden": "true"});
      list.append(make("li", {}, key, make("span", {}, /^-?[\d.]+$/.test(name) ? `class ${name}` : name)));
    });
    if (!this.isClasses && decides) list.append(make("li", {}, make("span", {class: "swatch contour"}), `decision at ${numberText(DATA.boundary.centre)}`));
    if (!this.isClasses && !decides) {
      const {centre, reach} = DATA.boundary, ends = [centre - reach, centre + reach].map(v => make("span", {}, numberText(v, 3)));
      this.bar = make("canvas", {width: 255, height: 1, class: "shades", "aria-hidden": "true"});
      list.append(make("li", {}, ends[0], this.bar, ends[1]));
    }
    if (labels.length < of) list.append(make("li", {}, `${labels.length.toLocaleString("en")} of ${of.toLocaleString("en")} points`));
    return list;
  }

  // The paint of a class, or of a label that is a number: for points, strong; behind them, pale.
  classColour(k) {
    return this.isClasses || DATA.boundary.decides ? colour(`class-${k % 10}`) : colour("ink");
  }
  placeOf(label) {
    const {names, decides} = DATA.boundary;
    return this.isClasses ? label : decides ? names.findIndex(name => Number(name) === label) : -1;
  }
  recolour() {
    this.paints = null;
    this.draw();
  }
  paint() {
    if (this.paints) return this.paints;
    const panel = colour("panel"), count = DATA.boundary.names.length;
    const strong = Array.from({length: max(count, 2)}, (_, k) => this.classColour(k));
    const stops = DATA.boundary.decides ? [mix(panel, strong[0], 0.5), mix(panel, strong[0], 0.12), mix(panel, strong[1], 0.12), mix(panel, strong[1], 0.5)] : null;
    // For a decision pale to strong on each side, with a step between them; else the colours of the weights.
    const shades = stops ? Uint32Array.from({length: 255}, (_, k) => {
      const t = abs(k - 127) / 127;
      return pixel(k < 127 ? mix(stops[1], stops[0], t) : mix(stops[2], stops[3], t));
    }) : diverging();
    this.paints = {strong, shades, pale: strong.map(c => pixel(mix(panel, c, 0.3))), line: pixel(colour("ink")), rim: colour("panel")};
    return this.paints;
  }

  valueOf(row, column, frame = this.frame) {
    const code = this.frames[frame][row * this.columns + column];
    if (this.isClasses) return code;
    if (code === 128) return NaN;
    return DATA.boundary.centre + (code > 127 ? code - 256 : code) / 127 * DATA.boundary.scales[frame];
  }
  say(row, column) {
    const {horizontal: [left, right], vertical: [low, high], names} = DATA.boundary, up = this.rows - 1 - row;
    const x = left + (right - left) * column / (this.columns - 1), y = low + (high - low) * up / (this.rows - 1);
    const v = this.valueOf(up, column), said = this.isClasses ? `class ${names[v]}` : numberText(v, 3);
    return `(${numberText(x, 3)}, ${numberText(y, 3)}): ${said}`;
  }

  show(frame) {
    this.frame = frame;
    const when = epochName(DATA.frames[frame]);
    find("boundary-epoch").textContent = when;
    this.probe.frame.setAttribute("aria-label", `${find("boundary-title").textContent}, ${when}, with ${DATA.boundary.labels.length} points`);
    this.draw();
    this.probe.update();
  }

  draw() {
    const {canvas, frame} = this.probe, sharp = min(2, devicePixelRatio || 1);
    const width = round(frame.clientWidth * sharp), height = round(frame.clientHeight * sharp);
    if (!width || !height) return;
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, {width, height});
    const context = this.probe.brush, image = new ImageData(width, height);
    (this.isClasses ? this.fillClasses : this.fillNumbers).call(this, new Uint32Array(image.data.buffer), width, height);
    context.putImageData(image, 0, 0);
    this.drawPoints(context, width, height, sharp);
    this.drawKeys();
  }

  // For each pixel, f(four neighbours' places, their shares) is what it is; where it changes there is a line.
  each(width, height, f) {
    const {rows, columns} = this;
    for (let y = 0; y < height; y++) {
      const v = (1 - y / max(1, height - 1)) * (rows - 1), i = clamp(floor(v), 0, max(0, rows - 2)), b = v - i;
      const below = i * columns, above = min(i + 1, rows - 1) * columns;
      for (let x = 0; x < width; x++) {
        const u = x / max(1, width - 1) * (columns - 1), j = clamp(floor(u), 0, max(0, columns - 2)), a = u - j;
        const k = min(j + 1, columns - 1);
        f(y * width + x, below + j, below + k, above + j, above + k, a, b);
      }
    }
  }
  // The class with the largest share, once the shares have been smoothed, so that borders are not stairs.
  fillClasses(out, width, height) {
    const values = this.frames[this.frame], {pale, line} = this.paint(), classes = new Uint8Array(out.length);
    const {shares, isMixed} = this.smoothed(values), count = shares.length;
    this.each(width, height, (at, p, q, r, s, a, b) => {
      classes[at] = values[p];
      if (!(isMixed[p] || isMixed[q] || isMixed[r] || isMixed[s])) return;
      for (let c = 0, most = 0; c < count; c++) {
        const of = shares[c], share = (1 - b) * ((1 - a) * of[p] + a * of[q]) + b * ((1 - a) * of[r] + a * of[s]);
        if (share > most) { most = share; classes[at] = c; }
      }
    });
    classes.forEach((c, k) => { out[k] = pale[c]; });
    outline(out, width, classes, line);
  }
  smoothed(values) {
    const {rows, columns} = this, size = rows * columns, isMixed = new Uint8Array(size);
    const shares = DATA.boundary.names.map(() => new Float32Array(size));
    for (let i = 0; i < rows; i++) {
      for (let j = 0; j < columns; j++) {
        const at = i * columns + j;
        for (let y = -2; y <= 2; y++) {
          const row = clamp(i + y, 0, rows - 1) * columns;
          for (let x = -2; x <= 2; x++) {
            const near = values[row + clamp(j + x, 0, columns - 1)];
            shares[near][at] += (3 - abs(x)) * (3 - abs(y));
            if (near !== values[at]) isMixed[at] = 1;
          }
        }
      }
    }
    return {shares, isMixed};
  }
  fillNumbers(out, width, height) {
    const {centre, reach, decides, scales} = DATA.boundary, {shades, line} = this.paint(), sides = new Uint8Array(out.length);
    const values = Float64Array.from(this.frames[this.frame], c => (c === 128 ? NaN : (c > 127 ? c - 256 : c) / 127));
    const scale = scales[this.frame] / reach, unknown = pixel(colour("unknown"));
    this.each(width, height, (at, p, q, r, s, a, b) => {
      const v = (1 - b) * ((1 - a) * values[p] + a * values[q]) + b * ((1 - a) * values[r] + a * values[s]);
      sides[at] = v > 0 ? 1 : 0;
      out[at] = Number.isNaN(v) ? unknown : shades[round(clamp(v * scale, -1, 1) * 127) + 127];
    });
    if (decides) outline(out, width, sides, line);
  }

  drawPoints(context, width, height, sharp) {
    const {points: [xs, ys], labels, horizontal, vertical, centre, reach} = DATA.boundary, {strong, shades, rim} = this.paint();
    const radius = sharp * (labels.length > 300 ? 3 : 4), css = c => `rgb(${c.join(" ")})`;
    context.lineWidth = 1.4 * sharp;
    labels.forEach((label, k) => {
      const x = (xs[k] - horizontal[0]) / (horizontal[1] - horizontal[0]) * (width - 1);
      const y = (1 - (ys[k] - vertical[0]) / (vertical[1] - vertical[0])) * (height - 1);
      const place = this.placeOf(label);
      const shade = place < 0 ? shades[round(clamp((label - centre) / reach, -1, 1) * 127) + 127] : 0;
      context.beginPath();
      SHAPES[max(0, place) % SHAPES.length](context, x, y, radius);
      context.fillStyle = css(place < 0 ? [shade & 255, shade >> 8 & 255, shade >> 16 & 255] : strong[place]);
      context.strokeStyle = place < 0 ? css(colour("ink")) : css(rim);
      context.stroke();
      context.fill();
    });
  }
  drawKeys() {
    const {strong, shades} = this.paint();
    if (this.bar) {
      const image = new ImageData(255, 1);
      new Uint32Array(image.data.buffer).set(shades);
      this.bar.getContext("2d").putImageData(image, 0, 0);
    }
    document.querySelectorAll(".key").forEach((key, k) => {
      const context = key.getContext("2d");
      context.clearRect(0, 0, 28, 28);
      context.beginPath();
      SHAPES[k % SHAPES.length](context, 14, 14, 9);
      context.fillStyle = `rgb(${strong[k].join(" ")})`;
      context.fill();
    });
  }
}
// A line two pixels wide where neighbours differ.
function outline(out, width, kinds, line) {
  for (let k = 0; k + width < out.length; k++) {
    const isEnd = (k + 1) % width === 0;
    if (kinds[k] !== kinds[k + width]) out[k] = out[k + width] = line;
    if (!isEnd && kinds[k] !== kinds[k + 1]) out[k] = out[k + 1] = line;
  }
}

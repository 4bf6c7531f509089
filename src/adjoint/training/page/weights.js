// Arrays of weights as pictures: matrices cell by cell, or the weights of each unit as the image they look at.
const UNKNOWN = 128;

class Weights {
  constructor(bytes, start) {
    this.at = start;
    this.arrays = DATA.weights.map(facts => {
      const [rows, columns] = facts.part, size = rows * columns, frames = framesOf(bytes, this.at, size);
      this.at += size * DATA.frames.length;
      return new Picture(facts, frames);
    });
    find("weights-panel").hidden = !this.arrays.length;
    find("weights").append(...this.arrays.map(a => a.figure));
  }

  recolour() {
    this.colours = diverging();
    this.unknown = pixel(colour("unknown"));
    const scale = find("scale"), image = new ImageData(scale.width, 1), out = new Uint32Array(image.data.buffer);
    out.forEach((_, k) => { out[k] = this.colours[round(k / (scale.width - 1) * 254)]; });
    scale.getContext("2d").putImageData(image, 0, 0);
  }

  show(frame) {
    if (!this.colours) this.recolour();
    find("weights-epoch").textContent = epochName(DATA.frames[frame]);
    for (const array of this.arrays) array.show(frame, this.colours, this.unknown);
  }
}

class Picture {
  constructor(facts, frames) {
    Object.assign(this, {facts, frames, isTiled: facts.tile !== null, frame: 0});
    [this.rows, this.columns] = facts.part;
    this.isTurned = !facts.tile && this.rows >= 3 * this.columns; // a tall matrix lies down
    this.probe = new Probe({
      name: "", rows: this.rows, columns: this.columns, cellAt: (x, y) => this.cellAt(x, y),
      boxOf: (row, column) => this.boxOf(row, column), say: (row, column) => this.say(row, column),
    });
    this.span = make("span", {class: "span"});
    const title = make("div", {class: "title"}, make("strong", {}, facts.name), make("span", {class: "shape"}, facts.shape.join(" × ") || "1"));
    if (facts.tile && facts.shape.length === 2) title.append(this.button());
    const [rows, columns] = facts.whole, isPart = rows > this.rows || columns > this.columns;
    const part = isPart ? make("span", {class: "part"}, this.partText()) : "";
    if (this.isTurned) title.append(make("span", {class: "shape"}, "transposed"));
    this.figure = make("figure", {}, make("figcaption", {}, title, this.span, part), this.probe.frame, this.probe.readout);
    this.arrange();
  }

  button() {
    const label = () => (this.isTiled ? "as a matrix" : "as images");
    const button = make("button", {type: "button", class: "small"}, label());
    button.setAttribute("aria-label", `Show ${this.facts.name} ${label()}`);
    button.addEventListener("click", () => {
      this.isTiled = !this.isTiled;
      button.textContent = label();
      button.setAttribute("aria-label", `Show ${this.facts.name} ${label()}`);
      this.probe.choose(null);
      this.arrange();
      this.show(this.frame, ...this.paints);
    });
    return button;
  }

  partText() {
    const [rows, columns] = this.facts.whole, of = (n, all, word) => (n < all ? `the first ${n} of ${all} ${word}` : "");
    return [of(this.rows, rows, "rows"), of(this.columns, columns, this.isTiled ? "units" : "columns")].filter(Boolean).join(", ");
  }

  // How many cells the picture has, in tiles with a gap or as they stand, and how large a cell is on the screen.
  arrange() {
    const [high, wide] = this.isTiled ? this.facts.tile : this.turned(this.rows, this.columns);
    const count = this.isTiled ? this.columns : 1;
    this.across = this.isTiled ? clamp(round(Math.sqrt(count * 1.6)), 1, count) : 1;
    this.gap = this.isTiled ? 1 : 0;
    this.width = this.across * (wide + this.gap) - this.gap;
    this.height = ceil(count / this.across) * (high + this.gap) - this.gap;
    const most = this.isTiled ? 460 : 300;
    this.cell = clamp(floor(min(most / this.width, 300 / this.height)), 1, 18);
    const {canvas, frame} = this.probe;
    Object.assign(canvas, {width: this.width, height: this.height});
    frame.style.setProperty("width", `${this.width * this.cell}px`);
    frame.style.setProperty("aspect-ratio", `${this.width} / ${this.height}`);
  }

  turned(row, column) {
    return this.isTurned ? [column, row] : [row, column];
  }
  // Where on the picture a weight is drawn.
  place(row, column) {
    if (!this.isTiled) return this.turned(row, column).reverse();
    const [high, wide] = this.facts.tile, x = column % this.across, y = floor(column / this.across);
    return [x * (wide + 1) + row % wide, y * (high + 1) + floor(row / wide)];
  }
  boxOf(row, column) {
    const [x, y] = this.place(row, column);
    return [x / this.width, y / this.height, 1 / this.width, 1 / this.height];
  }
  cellAt(x, y) {
    const across = clamp(floor(x * this.width), 0, this.width - 1), down = clamp(floor(y * this.height), 0, this.height - 1);
    if (!this.isTiled) return this.turned(down, across);
    const [high, wide] = this.facts.tile, unit = floor(across / (wide + 1)) + this.across * floor(down / (high + 1));
    const inX = across % (wide + 1), inY = down % (high + 1);
    return inX >= wide || inY >= high || unit >= this.columns ? null : [inY * wide + inX, unit];
  }

  valueOf(row, column) {
    const code = this.frames[this.frame][row * this.columns + column];
    return code === UNKNOWN ? NaN : (code > 127 ? code - 256 : code) / 127 * this.facts.limit;
  }
  say(row, column) {
    const value = numberText(this.valueOf(row, column), 2), {shape, tile} = this.facts;
    if (shape.length <= 1) return `[${column}] ≈ ${value}`;
    if (!this.isTiled) return `[${row}, ${column}] ≈ ${value}`;
    const pixelAt = `${floor(row / tile[1])}, ${row % tile[1]}`;
    return shape.length === 2 ? `unit ${column}, pixel (${pixelAt}) ≈ ${value}` : `kernel ${column}, (${pixelAt}) ≈ ${value}`;
  }

  show(frame, ...paints) {
    this.frame = frame;
    this.paints = paints;
    const [colours, unknown] = paints, codes = this.frames[frame];
    const image = new ImageData(this.width, this.height), out = new Uint32Array(image.data.buffer);
    for (let row = 0, k = 0; row < this.rows; row++) {
      for (let column = 0; column < this.columns; column++, k++) {
        const [x, y] = this.place(row, column), code = codes[k];
        out[y * this.width + x] = code === UNKNOWN ? unknown : colours[(code > 127 ? code - 256 : code) + 127];
      }
    }
    this.probe.brush.putImageData(image, 0, 0);
    const [low, high, mean] = this.facts.spans[frame].map(v => numberText(toNumber(v), 3));
    this.span.textContent = low === "nan" ? "not all finite" : `${low} to ${high}, rms ${mean}`;
    const limit = numberText(this.facts.limit, 3);
    this.probe.frame.setAttribute("aria-label",
      `${this.facts.name} at ${epochName(DATA.frames[frame])}: ${this.span.textContent}; full colour is ${limit}`);
    this.probe.update();
  }
}

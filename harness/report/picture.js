'use strict';
// The picture of a run: lanes from clients down to shards, time from left to right. Everything that
// comes from a scenario gets into the page as text or as an attribute's value, never as markup.

const SVG = 'http://www.w3.org/2000/svg';
const MARGIN = {left: 118, top: 20, bottom: 8};
const HEIGHT = {client: 20, router: 18, set: 20, member: 18, faults: 16, ribbon: 13};

// svg makes an element of a picture; the text, if any, is its content or its tooltip.
function svg(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  if (text !== undefined && name === 'text') made.textContent = text;
  else if (text !== undefined) made.append(svg('title')), made.firstChild.textContent = text;
  return made;
}

// duration is a virtual time in a few characters.
function duration(ns) {
  if (ns < 1e6) return (ns / 1e3).toFixed(0) + 'µs';
  if (ns < 1e9) return (ns / 1e6).toFixed(ns < 1e8 ? 2 : 1) + 'ms';
  return (ns / 1e9).toFixed(ns < 1e10 ? 3 : 2) + 's';
}

// Scale maps virtual time to 0..1: evenly, or so that the moments that matter are equally far apart,
// whatever the time between them.
class Scale {
  constructor(end, knots) {
    this.knots = [0, ...new Set(knots.filter(t => t > 0 && t < end)), Math.max(end, 1)];
    this.knots.sort((a, b) => a - b);
    this.even = knots.length > 0;
  }
  at(time) {
    const k = this.knots, n = k.length - 1;
    if (time <= 0) return 0;
    if (time >= k[n]) return 1;
    let low = 0, high = n;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (k[middle] <= time) low = middle; else high = middle;
    }
    return (low + (time - k[low]) / (k[high] - k[low])) / n;
  }
  time(u) {
    const k = this.knots, n = k.length - 1;
    const low = Math.min(n - 1, Math.max(0, Math.floor(u * n)));
    return k[low] + (u * n - low) * (k[low + 1] - k[low]);
  }
}

// Picture draws a view. What is shown, and of what, is in its fields; draw follows them.
class Picture {
  constructor(view, place, pick) {
    this.view = view;
    this.place = place;
    this.pick = pick;
    this.messages = true;
    this.everything = !view.story;
    this.filter = {key: -1, migration: '', node: ''};
    this.range = -1;
    this.now = 0;
    this.told = new Map();
    (view.story || []).forEach((m, i) => this.told.set(m.step || 'op' + m.op, i + 1));
    this.rows = ribbons(view.spans);
    this.scaled(Boolean(view.story));
    this.fit(Boolean(view.story));
  }

  // scaled chooses the scale.
  scaled(even) {
    const knots = [];
    if (even) {
      for (const m of this.view.story || []) knots.push(m.at);
      for (const o of this.view.ops) if (o.p) knots.push(o.f, o.t);
      const moves = this.toldMigrations();
      for (const s of this.view.spans) if (s.m && moves.has(s.m)) knots.push(s.f);
    }
    this.scale = new Scale(this.view.end, knots);
  }

  toldMigrations() {
    const moves = new Set();
    for (const e of this.view.events) if (e.o && e.m) moves.add(e.m);
    return moves;
  }

  // fit shows all of the run, or what its story spans.
  fit(story) {
    this.from = 0;
    this.to = 1;
    if (!story || !this.view.story) return;
    const times = this.view.story.map(m => this.scale.at(m.at));
    for (const o of this.view.ops) if (o.p) times.push(this.scale.at(o.f), this.scale.at(o.t));
    const low = Math.min(...times), high = Math.max(...times), room = (high - low) * .04 + 1e-3;
    this.from = Math.max(0, low - room);
    this.to = Math.min(1, high + room);
  }

  zoom(by, around) {
    const middle = around === undefined ? (this.from + this.to) / 2 : around;
    const width = Math.min(1, Math.max(1e-5, (this.to - this.from) * by));
    const part = (middle - this.from) / (this.to - this.from);
    this.from = Math.min(1 - width, Math.max(0, middle - width * part));
    this.to = this.from + width;
  }

  pan(by) {
    const width = this.to - this.from;
    this.from = Math.min(1 - width, Math.max(0, this.from + by * width));
    this.to = this.from + width;
  }

  // reveal makes the time visible.
  reveal(time) {
    const u = this.scale.at(time), width = this.to - this.from;
    if (u >= this.from && u <= this.to) return;
    this.from = Math.min(1 - width, Math.max(0, u - width / 2));
    this.to = this.from + width;
  }

  x(time) {
    const u = (this.scale.at(time) - this.from) / (this.to - this.from);
    return MARGIN.left + u * (this.width - MARGIN.left - 12);
  }

  // unit is the inverse of x, as a part of the whole run.
  unit(x) {
    const u = (x - MARGIN.left) / (this.width - MARGIN.left - 12);
    return this.from + u * (this.to - this.from);
  }

  visible(from, to) { return this.scale.at(to) >= this.from && this.scale.at(from) <= this.to; }

  // matches says whether something passes the filters.
  matches(what) {
    const f = this.filter, key = this.view.keys[f.key];
    if (f.migration && what.m !== f.migration) return false;
    if (f.node && !this.onNode(what.l, f.node)) return false;
    if (!key) return true;
    if (what.d !== undefined && what.d >= 0) return what.d === f.key;
    return what.b > what.a && what.a <= key.place && key.place < what.b;
  }

  onNode(l, name) {
    const lane = this.view.lanes[l];
    return lane !== undefined && (lane.name === name || lane.set === name);
  }

  // layout gives every lane that is shown its place.
  layout() {
    const shown = this.everything ? null : this.involved();
    let y = MARGIN.top;
    const faults = this.view.spans.filter(s => s.c === 'fault');
    this.faultRows = stack(faults);
    const rows = Math.max(0, ...faults.map(s => this.faultRows.get(s) + 1));
    this.faultTop = y;
    y += rows * HEIGHT.faults + (rows ? 4 : 0);
    this.lanes = this.view.lanes.map((lane, i) => {
      const hidden = shown && !shown.has(i) || this.filter.node && !this.onNode(i, this.filter.node);
      const deep = this.rows.deepest.get(i) || 0;
      const height = hidden ? 0 : HEIGHT[lane.kind] + deep * HEIGHT.ribbon;
      const at = {y, height, hidden};
      y += height;
      return at;
    });
    this.bottom = y;
  }

  // involved are the lanes that the story is about.
  involved() {
    const v = this.view, shown = new Set(), sets = new Set(), moves = this.toldMigrations();
    for (const e of v.events) if (e.o) shown.add(e.l);
    for (const o of v.ops) if (o.p || this.told.has('op' + o.id)) shown.add(o.l);
    for (const s of v.spans) if (s.m && moves.has(s.m)) shown.add(s.l);
    v.lanes.forEach((lane, i) => {
      if (lane.kind === 'router') shown.add(i);
      if (shown.has(i)) sets.add(lane.kind === 'set' ? lane.name : lane.set);
    });
    const leads = new Set(v.spans.filter(s => s.c === 'leads').map(s => s.l));
    v.lanes.forEach((lane, i) => {
      if (sets.has(lane.name) || sets.has(lane.set) && leads.has(i)) shown.add(i);
    });
    return shown;
  }

  draw() {
    this.width = Math.max(480, this.place.clientWidth);
    this.layout();
    const below = this.proofTexts();
    const height = this.bottom + MARGIN.bottom + below.length * 16;
    const root = svg('svg', {
      viewBox: `0 0 ${this.width} ${height}`, height, role: 'img',
      'aria-label': 'lanes of clients, routers and servers over virtual time',
    });
    root.append(patterns());
    this.drawLanes(root);
    this.drawOwners(root);
    this.drawAxis(root);
    for (const s of this.view.spans) this.drawSpan(root, s);
    if (this.messages) this.drawMessages(root);
    for (const o of this.view.ops) this.drawOp(root, o);
    for (const e of this.view.events) this.drawEvent(root, e);
    this.drawProof(root, below);
    this.drawCursor(root);
    this.drawNames(root);
    this.place.replaceChildren(root);
  }

  drawLanes(root) {
    this.lanes.forEach((at, i) => {
      if (at.hidden) return;
      const kind = this.view.lanes[i].kind;
      root.append(svg('rect', {
        x: 0, y: at.y, width: this.width, height: at.height,
        fill: kind === 'set' || kind === 'client' ? 'var(--panel)' : 'var(--ground)',
      }));
      if (kind !== 'member') {
        root.append(svg('line', {
          x1: 0, x2: this.width, y1: at.y, y2: at.y, stroke: 'var(--line)',
        }));
      }
    });
  }

  // drawNames covers what has been drawn beyond the left edge.
  drawNames(root) {
    root.append(svg('rect', {
      x: 0, y: MARGIN.top - 6, width: MARGIN.left - 4, height: this.bottom - MARGIN.top + 6, fill: 'var(--ground)',
    }));
    if (this.lanes[0] && this.lanes[0].y > MARGIN.top) {
      root.append(svg('text', {x: 6, y: this.faultTop + 12}, 'faults'));
    }
    this.lanes.forEach((at, i) => {
      const lane = this.view.lanes[i];
      if (at.hidden) return;
      root.append(svg('text', {
        x: lane.kind === 'member' ? 18 : 6, y: at.y + at.height / 2 + 4,
        'font-weight': lane.kind === 'set' ? 700 : 400,
      }, lane.name));
    });
  }

  drawAxis(root) {
    const many = Math.max(3, Math.floor((this.width - MARGIN.left) / 110));
    for (let i = 0; i <= many; i++) {
      const u = this.from + (this.to - this.from) * i / many;
      const x = MARGIN.left + (this.width - MARGIN.left - 12) * i / many;
      root.append(svg('line', {
        x1: x, x2: x, y1: MARGIN.top - 4, y2: this.bottom, stroke: 'var(--line)',
        'stroke-dasharray': '1 4',
      }));
      root.append(svg('text', {
        x, y: 12, 'text-anchor': i === many ? 'end' : i ? 'middle' : 'start', style: 'fill: var(--faint)',
      }, duration(this.scale.time(u))));
    }
  }

  // drawOwners tints the replica set that owns the chosen range, as the catalog has it.
  drawOwners(root) {
    const range = this.view.ranges[this.range];
    if (!range) return;
    range.owners.forEach((o, i) => {
      const to = i + 1 < range.owners.length ? range.owners[i + 1].f : this.view.end;
      if (o.l < 0 || !this.visible(o.f, to)) return;
      const {y, bottom} = this.groupOf(o.l);
      if (bottom <= y) return;
      const x = Math.max(MARGIN.left, this.x(o.f)), end = this.x(to);
      root.append(svg('rect', {
        x, y, width: Math.max(1, end - x), height: bottom - y, fill: 'var(--owner)',
        stroke: 'var(--green)', 'stroke-width': .6,
      }, `${this.view.lanes[o.l].name} owns ${range.ns} ${range.text} from ${duration(o.f)} on`));
      if (end - x > 60) {
        root.append(svg('text', {x: x + 4, y: y + 12, style: 'fill: var(--green)'}, 'owner'));
      }
    });
  }

  // groupOf is where a replica set and its members are.
  groupOf(l) {
    const name = this.view.lanes[l].name;
    let y = Infinity, bottom = 0;
    this.lanes.forEach((at, i) => {
      const lane = this.view.lanes[i];
      if (at.hidden || lane.name !== name && lane.set !== name) return;
      y = Math.min(y, at.y);
      bottom = Math.max(bottom, at.y + at.height);
    });
    return {y, bottom};
  }

  bar(root, from, to, y, height, attributes, text, step) {
    const x = Math.max(MARGIN.left - 4, this.x(from));
    const width = Math.max(2.5, Math.min(this.width, this.x(to)) - x);
    const made = svg('rect', {x, y, width, height, class: 'hit', ...attributes}, text);
    if (step) made.addEventListener('click', c => { c.stopPropagation(); this.pick(step); });
    root.append(made);
    return {x, width};
  }

  label(root, at, y, text) {
    const room = Math.floor((at.width - 6) / 6.2);
    if (room < 3) return;
    root.append(svg('text', {x: at.x + 3, y, 'font-size': 10},
      text.length > room ? text.slice(0, room - 1) + '…' : text));
  }

  drawSpan(root, s) {
    if (!this.visible(s.f, s.t)) return;
    if (s.c === 'fault') return this.drawFault(root, s);
    const lane = this.lanes[s.l];
    if (!lane || lane.hidden) return;
    const look = LOOKS[s.c], strong = this.matches(s) ? 1 : .18;
    if (s.c === 'leads' || s.c === 'down') {
      this.bar(root, s.f, s.t, lane.y + lane.height / 2 - (s.c === 'down' ? 6 : 1.5),
        s.c === 'down' ? 12 : 3, {fill: look.fill, opacity: s.c === 'down' ? 1 : .55}, s.x, s.s);
      return;
    }
    const row = this.rows.row.get(s) || 0;
    const y = lane.y + 3 + row * HEIGHT.ribbon, height = HEIGHT.ribbon - 2;
    const fill = look.phases ? `url(#${look.phases}${Math.min(s.h, 9)})` : look.fill;
    const at = this.bar(root, s.f, s.t, y, height,
      {fill, stroke: look.stroke, 'stroke-width': .8, opacity: strong}, s.x, s.s);
    if (strong === 1) this.label(root, at, y + 9, look.name ? `${look.name}: ${s.n}` : s.n || s.x);
  }

  drawFault(root, s) {
    const y = this.faultTop + this.faultRows.get(s) * HEIGHT.faults;
    const lane = this.lanes[s.l];
    const at = this.bar(root, s.f, s.t, y, HEIGHT.faults - 3,
      {fill: 'url(#fault)', stroke: 'var(--red)'}, s.x, s.s);
    this.label(root, at, y + 10, s.x);
    const over = lane && !lane.hidden ? [lane.y, lane.height] :
      [y + HEIGHT.faults, this.bottom - y - HEIGHT.faults];
    root.append(svg('rect', {
      x: at.x, y: over[0], width: at.width, height: over[1], fill: 'var(--red)',
      opacity: lane ? .22 : .06, 'pointer-events': 'none',
    }));
  }

  drawMessages(root) {
    const shown = this.view.messages.filter(m => this.visible(m.s, Math.max(m.s, m.t)) &&
      !this.lanes[m.f].hidden && !this.lanes[m.o].hidden &&
      (!this.filter.node || this.onNode(m.f, this.filter.node) ||
        this.onNode(m.o, this.filter.node)));
    for (const m of shown) {
      const from = this.lanes[m.f], to = this.lanes[m.o];
      const gone = m.z || m.t < 0;
      const x1 = this.x(m.s), x2 = gone ? x1 + 9 : this.x(m.t);
      const y1 = from.y + from.height / 2;
      const y2 = gone ? y1 + (to.y > from.y ? 26 : -26) : to.y + to.height / 2;
      const lane = this.view.lanes;
      const text = `${m.x} from ${lane[m.f].name} to ${lane[m.o].name}, sent ${duration(m.s)}` +
        (m.z ? ', LOST' : m.t < 0 ? ', never arrived' : `, arrived ${duration(m.t)}`);
      const line = svg('line', {
        x1, y1, x2, y2, stroke: gone ? 'var(--red)' : 'var(--faint)', class: 'hit',
        'stroke-width': gone ? 2 : 1, opacity: gone || shown.length < 60 ? .9 : .4,
        'marker-end': gone ? 'url(#lost)' : 'url(#arrow)',
      }, text);
      line.addEventListener('click', c => { c.stopPropagation(); this.pick(m.n); });
      root.append(line);
      if (gone || shown.length < 18) {
        root.append(svg('text', {
          x: (x1 + x2) / 2 + 4, y: gone ? y2 + (to.y > from.y ? 10 : -4) : (y1 + y2) / 2,
          'font-size': 9.5, style: `fill: var(${gone ? '--red' : '--faint'})`,
        }, gone ? m.x + ' lost' : m.x));
      }
    }
  }

  drawOp(root, o) {
    const lane = this.lanes[o.l];
    if (!lane || lane.hidden || !this.visible(o.f, o.t)) return;
    const at = this.bar(root, o.f, o.t, lane.y + 3, lane.height - 6, {
      fill: OUTCOMES[o.o], opacity: this.matches(o) ? 1 : .15,
      stroke: o.p ? 'var(--purple)' : 'none', 'stroke-width': o.p ? 3 : 0,
    }, o.x);
    root.lastChild.addEventListener('click', c => {
      c.stopPropagation();
      this.pick(null, o.t, o);
    });
    if (this.matches(o)) this.label(root, at, lane.y + lane.height / 2 + 3.5, shortOp(o));
  }

  // drawEvent marks what the story tells with its number there, and writes of the chosen key.
  drawEvent(root, e) {
    const lane = this.lanes[e.l], number = this.told.get(e.s);
    if (!lane || lane.hidden || !this.visible(e.t, e.t)) return;
    const x = this.x(e.t), y = lane.y + lane.height / 2;
    const chosen = e.k === 'applied' && this.filter.key >= 0 && e.d === this.filter.key;
    if (!number && !chosen && !MARKS[e.k]) return;
    if (!number && !this.matches(e)) return;
    const group = svg('g', {class: 'hit'}, `${duration(e.t)} step ${e.s}: ${e.x}`);
    group.addEventListener('click', c => { c.stopPropagation(); this.pick(e.s); });
    const story = number && this.view.story[number - 1];
    if (number) {
      group.append(svg('circle', {
        cx: x, cy: y, r: 8, fill: story.here ? 'var(--red)' : 'var(--ground)',
        stroke: story.here ? 'var(--red)' : 'var(--text)', 'stroke-width': 1.4,
      }), svg('text', {
        x, y: y + 3.5, 'text-anchor': 'middle', 'font-weight': 700, 'font-size': 10,
        style: story.here ? 'fill: var(--ground)' : '',
      }, number));
    } else if (chosen) {
      group.append(svg('circle', {cx: x, cy: y, r: 4, fill: 'var(--blue)'}));
    } else {
      group.append(svg('text', {
        x, y: y + 4, 'text-anchor': 'middle', style: 'pointer-events: auto; fill: var(--faint)',
      }, MARKS[e.k]));
    }
    root.append(group);
  }

  // proofTexts are the sentences of the contradiction, each with the operation that it is about.
  proofTexts() {
    const ops = this.view.ops.filter(o => o.p), events = this.view.events.filter(e => e.o === 2);
    const points = [
      ...ops.map(o => ({t: (o.f + o.t) / 2, l: o.l, x: o.x})),
      ...events.filter(e => this.lanes[e.l]).map(e => ({t: e.t, l: e.l, x: e.x})),
    ].filter(p => this.lanes[p.l] && !this.lanes[p.l].hidden);
    points.sort((a, b) => a.t - b.t);
    return points.slice(0, 6);
  }

  // drawProof joins what contradicts itself by a line, with a sentence for each end of it.
  drawProof(root, points) {
    const at = points.map(p => [this.x(p.t), this.lanes[p.l].y + this.lanes[p.l].height / 2]);
    if (at.length > 1) {
      root.append(svg('polyline', {
        points: at.map(p => p.join(',')).join(' '), fill: 'none', stroke: 'var(--purple)',
        'stroke-width': 2.5, 'stroke-dasharray': '7 4', opacity: .85, 'pointer-events': 'none',
      }));
    }
    points.forEach((p, i) => {
      const y = this.bottom + 15 + i * 16, letter = String.fromCharCode(65 + i);
      const x = Math.max(MARGIN.left, Math.min(this.width - 20, at[i][0]));
      root.append(svg('circle', {cx: x, cy: at[i][1] - 11, r: 7, fill: 'var(--purple)'}));
      root.append(svg('text', {
        x, y: at[i][1] - 7.5, 'text-anchor': 'middle', 'font-weight': 700, 'font-size': 10,
        style: 'fill: #fff',
      }, letter));
      const room = Math.floor((this.width - MARGIN.left) / 6.6);
      const text = `${letter}  ${duration(p.t)}  ${p.x}`;
      root.append(svg('text', {x: 8, y, style: 'fill: var(--purple)', 'font-weight': 600},
        text.length > room ? text.slice(0, room - 1) + '…' : text));
    });
  }

  drawCursor(root) {
    const x = this.x(this.now);
    if (x < MARGIN.left - 1 || x > this.width) return;
    root.append(svg('line', {
      x1: x, x2: x, y1: MARGIN.top - 6, y2: this.bottom, stroke: 'var(--blue)', 'stroke-width': 1.6,
      'pointer-events': 'none',
    }));
  }
}

// shortOp is an operation in as few words as fit on a bar.
function shortOp(o) {
  return o.x.replace(/^client \d+: /, '').replace(/ \(op .*$/, '');
}

const OUTCOMES = {ok: 'var(--sky)', failed: 'var(--line)', unknown: 'var(--yellow)'};

// MARKS are events that are drawn although nothing lasts from them on.
const MARKS = {
  'catalog-written': '◆', decision: '◇', elected: '▲', 'rolled-back': '↩', chance: '✕',
  'process-aborted': '☠',
};

const LOOKS = {
  donor: {phases: 'donor', stroke: 'var(--orange)', name: 'donor'},
  recipient: {phases: 'recipient', stroke: 'var(--blue)', name: 'recipient'},
  'primary-move': {phases: 'donor', stroke: 'var(--orange)', name: 'movePrimary'},
  section: {fill: 'url(#section)', stroke: 'var(--red)', name: 'critical section'},
  deletion: {fill: 'url(#deletion)', stroke: 'var(--faint)', name: 'deletion'},
  down: {fill: 'var(--text)'},
  leads: {fill: 'var(--green)'},
};

// stack gives bars that overlap rows of their own.
function stack(spans) {
  const ends = [], row = new Map();
  for (const s of [...spans].sort((a, b) => a.f - b.f)) {
    let r = ends.findIndex(end => end <= s.f);
    if (r < 0) r = ends.length;
    ends[r] = s.t;
    row.set(s, r);
  }
  return row;
}

// ribbons gives all phases of one migration on a lane the same row, and different migrations that
// overlap different ones.
function ribbons(spans) {
  const row = new Map(), deepest = new Map(), lanes = new Map();
  for (const s of spans) {
    if (!s.m) continue;
    const name = s.c + ' ' + s.m;
    if (!lanes.has(s.l)) lanes.set(s.l, new Map());
    const whole = lanes.get(s.l).get(name) || {f: s.f, t: s.t, parts: []};
    whole.f = Math.min(whole.f, s.f);
    whole.t = Math.max(whole.t, s.t);
    whole.parts.push(s);
    lanes.get(s.l).set(name, whole);
  }
  for (const [lane, wholes] of lanes) {
    const rows = stack(wholes.values());
    for (const [whole, r] of rows) {
      for (const part of whole.parts) row.set(part, r);
      deepest.set(lane, Math.max(deepest.get(lane) || 0, r));
    }
  }
  return {row, deepest};
}

// patterns are the fills that tell more than a colour: later phases are darker, what blocks is
// hatched.
function patterns() {
  const defs = svg('defs');
  const hatch = (id, ground, line, angle) => {
    const p = svg('pattern', {
      id, width: 6, height: 6, patternUnits: 'userSpaceOnUse',
      patternTransform: `rotate(${angle})`,
    });
    p.append(svg('rect', {width: 6, height: 6, fill: ground, opacity: .35}));
    p.append(svg('line', {x1: 0, y1: 0, x2: 0, y2: 6, stroke: line, 'stroke-width': 2}));
    defs.append(p);
  };
  hatch('fault', 'var(--red)', 'var(--red)', 45);
  hatch('section', 'var(--orange)', 'var(--red)', -45);
  hatch('deletion', 'var(--line)', 'var(--faint)', 90);
  for (const [name, colour] of [['donor', 'var(--orange)'], ['recipient', 'var(--blue)']]) {
    for (let phase = 1; phase <= 9; phase++) {
      const p = svg('pattern', {
        id: name + phase, width: 4, height: 4, patternUnits: 'userSpaceOnUse',
      });
      p.append(svg('rect', {width: 4, height: 4, fill: colour, opacity: .12 + phase * .065}));
      defs.append(p);
    }
  }
  const marker = (id, path, colour) => {
    const m = svg('marker', {
      id, viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto',
    });
    m.append(svg('path', {d: path, fill: 'none', stroke: colour, 'stroke-width': 1.6}));
    defs.append(m);
  };
  marker('arrow', 'M1 1 L7 4 L1 7', 'var(--faint)');
  marker('lost', 'M1 1 L7 7 M7 1 L1 7', 'var(--red)');
  return defs;
}

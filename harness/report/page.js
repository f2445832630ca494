// The page around the picture: the verdict, the story, the events and the state of the cluster at
// the one that is chosen. An event has the address #e and its step; in the smallest and in the
// passing run the name of that run stands before it, as in #smallest-e412.

const DATA = JSON.parse(document.getElementById('data').textContent);
let view, picture, chosen = 0, chosenOp = null;

const $ = id => document.getElementById(id);

// make is an element with its children; texts among them stay texts.
function make(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, '');
    else if (value !== false && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.filter(c => c !== null && c !== undefined));
  return made;
}

function fill(id, ...children) { $(id).replaceChildren(...children.filter(Boolean)); }

// address is the anchor of a step in a view.
function address(step, of = view) { return (of.name === 'run' ? '' : of.name + '-') + 'e' + step; }

// indexOf is the position of the last event up to a step.
function indexOf(step) {
  let low = 0, high = view.events.length - 1, found = 0;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (view.events[middle].s <= step) { found = middle; low = middle + 1; } else high = middle - 1;
  }
  return found;
}

function indexAt(time) {
  const after = view.events.findIndex(e => e.t > time);
  return after < 0 ? view.events.length - 1 : Math.max(0, after - 1);
}

// choose goes to an event, by its position.
function choose(i, quiet) {
  if (!view.events.length) return;
  chosen = Math.min(view.events.length - 1, Math.max(0, i));
  const e = view.events[chosen];
  picture.now = chosenOp ? chosenOp.t : e.t;
  picture.reveal(picture.now);
  if (!quiet) history.replaceState(null, '', '#' + address(e.s));
  $('slider').value = chosen;
  $('when').textContent = `step ${e.s} · ${duration(e.t)}`;
  picture.draw();
  showEvent(e);
  showAround();
  showState(e);
  for (const row of document.querySelectorAll('#story .row')) {
    row.classList.toggle('now', Number(row.dataset.step) === e.s && !chosenOp ||
      chosenOp !== null && Number(row.dataset.op) === chosenOp.id);
  }
}

// pick goes to a step, or to the moment of an operation.
function pick(step, time, op) {
  chosenOp = op || null;
  choose(step ? indexOf(step) : indexAt(time));
}

// open shows a view.
function open(name, step) {
  view = DATA.views.find(v => v.name === name) || DATA.views[0];
  picture = new Picture(view, $('canvas'), pick);
  picture.range = rangeOf(view.focus);
  for (const tab of $('views').children) {
    tab.setAttribute('aria-selected', tab.dataset.view === view.name);
  }
  showVerdict();
  showStory();
  showTools();
  showMore();
  const here = (view.story || []).find(m => m.here && m.step) || (view.story || [])[0];
  chosenOp = null;
  choose(step ? indexOf(step) : here && here.step ? indexOf(here.step) : 0, !step);
}

// rangeOf is the range that holds a key, as a position, -1 for none.
function rangeOf(key) {
  const k = view.keys[key];
  return k ? view.ranges.findIndex(r => r.ns === k.ns && r.a <= k.place && k.place < r.b) : -1;
}

function showVerdict() {
  const v = view, proofs = (v.because || []).map(text => make('div', {class: 'proof'}, text));
  const inside = (v.inside || []).map(text => make('div', {class: 'proof inside'}, text));
  fill('verdict', make('div', {class: 'card'},
    make('div', {},
      make('span', {class: 'outcome ' + v.outcome}, v.outcome.toUpperCase()), ' ',
      make('strong', {}, v.signature || 'every promise held'),
      make('span', {class: 'faint'}, `  seed ${v.seed} · ${v.profile} · protocol ` +
        `${v.protocol || '8.0'} · ${v.steps.toLocaleString('en')} steps · trace hash ${v.hash}`)),
    v.broke ? make('p', {class: 'broke'}, v.broke) : null,
    v.broke ? make('div', {class: 'faint'}, 'Promise of ' + v.checker + ': ' + v.promise) : null,
    proofs.length ? make('h2', {style: 'margin-top:.8rem'}, 'Why this is a contradiction') : null,
    ...proofs,
    inside.length ? make('h2', {style: 'margin-top:.8rem'},
      'Inside the cluster, before a client noticed') : null,
    ...inside));
}

function showStory() {
  if (!view.story) return fill('story');
  const rows = view.story.map((m, i) => {
    const e = m.step ? view.events[indexOf(m.step)] : null;
    const code = e && e.s === m.step && e.c && e.k !== 'majority' ? codeOf(e) : '';
    return make('div', {
      class: 'row' + (m.here ? ' here' : m.proof ? ' must' : ''), role: 'button', tabindex: 0,
      'data-step': m.step, 'data-op': m.op, onclick: () => pickMoment(m),
      onkeydown: k => { if (k.key === 'Enter') pickMoment(m); },
    },
    make('span', {class: 'number'}, String(i + 1)),
    make('span', {class: 'time'}, duration(m.at)),
    make('span', {class: 'text'}, m.here ? 'HERE  ' : '', m.text,
      code ? make('span', {class: 'code'}, code) : null));
  });
  fill('story', make('h2', {}, 'How it came to that'), make('div', {class: 'list'}, ...rows));
}

// codeOf is where an event was emitted, and where that was called from.
function codeOf(e) {
  let folder = '';
  return e.c.slice(0, 3).map(c => {
    const file = view.code[c].split(' ')[0], cut = file.lastIndexOf('/') + 1;
    const text = file.slice(0, cut) === folder ? file.slice(cut) : file;
    folder = file.slice(0, cut);
    return text;
  }).join(' ← ');
}

function pickMoment(m) {
  if (m.step) pick(m.step);
  else pick(null, m.at, view.ops.find(o => o.id === m.op));
}

function select(label, options, value, change) {
  const made = make('select', {'aria-label': label, title: label,
    onchange: () => { change(made.value); choose(chosen, true); }});
  for (const [key, text] of options) made.append(make('option', {value: key}, text));
  made.value = value;
  return made;
}

function toggle(text, title, on, change) {
  const made = make('button', {title, 'aria-pressed': String(on), onclick: () => {
    const now = made.getAttribute('aria-pressed') !== 'true';
    made.setAttribute('aria-pressed', now);
    change(now);
    choose(chosen, true);
  }}, text);
  return made;
}

function showTools() {
  const v = view, f = picture.filter;
  const moves = [...new Set(v.events.map(e => e.m).filter(Boolean))];
  const name = r => `${r.ns} ${r.text}`;
  const redraw = change => () => { change(); picture.draw(); };
  fill('tools',
    make('button', {title: 'zoom in (+)', onclick: redraw(() => picture.zoom(.5))}, '+'),
    make('button', {title: 'zoom out (-)', onclick: redraw(() => picture.zoom(2))}, '−'),
    v.story ? make('button', {title: 'what the story spans (f)',
      onclick: redraw(() => picture.fit(true))}, 'story') : null,
    make('button', {title: 'the whole run (0)',
      onclick: redraw(() => picture.fit(false))}, 'whole run'),
    select('only this key', [['-1', 'all keys'],
      ...v.keys.map((k, i) => [String(i), `${k.ns} k=${k.text}`])], String(f.key), n => {
      f.key = Number(n);
      if (f.key >= 0) picture.range = rangeOf(f.key);
      $('owner').value = String(picture.range);
    }),
    select('only this migration', [['', 'all migrations'], ...moves.map(m => [m, m])],
      f.migration, m => { f.migration = m; }),
    select('only this node', [['', 'all nodes'], ...v.lanes.map(l => [l.name, l.name])], f.node,
      n => { f.node = n; }),
    Object.assign(select('who owns this range, in green', [['-1', 'no owners'],
      ...v.ranges.map((r, i) => [String(i), 'owner of ' + name(r)])], String(picture.range),
    n => { picture.range = Number(n); }), {id: 'owner'}),
    toggle('messages', 'messages between the parties (m)', picture.messages,
      on => { picture.messages = on; }),
    v.story ? toggle('all lanes', 'lanes that the story is not about, too (l)',
      picture.everything, on => { picture.everything = on; }) : null,
    v.story ? toggle('stretch', 'moments of the story equally far apart (t)', picture.scale.even,
      on => { picture.scaled(on); picture.fit(true); }) : null);
  fill('legend', ...legend());
  const slider = make('input', {type: 'range', id: 'slider', min: 0, 'aria-label': 'through time',
    max: Math.max(0, v.events.length - 1), oninput: () => {
      chosenOp = null;
      choose(Number(slider.value));
    }});
  fill('travel',
    make('button', {title: 'previous event (←)', onclick: () => walk(-1)}, '◀'), slider,
    make('button', {title: 'next event (→)', onclick: () => walk(1)}, '▶'),
    make('span', {id: 'when', class: 'mono'}));
}

// legend says what the colours and the hatching mean.
function legend() {
  const sample = (fillWith, stroke, text) => {
    const s = svg('svg', {width: 26, height: 13, 'aria-hidden': 'true'});
    s.append(svg('rect', {x: 1, y: 1, width: 24, height: 11, fill: fillWith, stroke}));
    return make('span', {}, s, text);
  };
  return [
    sample('var(--sky)', 'none', 'operation acknowledged'),
    sample('var(--yellow)', 'none', 'outcome unknown'),
    sample('var(--line)', 'none', 'refused'),
    sample('url(#donor6)', 'var(--orange)', 'donor'),
    sample('url(#recipient6)', 'var(--blue)', 'recipient (later phases darker)'),
    sample('url(#section)', 'var(--red)', 'critical section'),
    sample('url(#deletion)', 'var(--faint)', 'range deletion'),
    sample('url(#fault)', 'var(--red)', 'fault'),
    sample('var(--owner)', 'var(--green)', 'owner in the catalog'),
    sample('none', 'var(--purple)', 'operation of the contradiction'),
    make('span', {class: 'faint'}, '◆ catalog written ◇ decision ▲ elected ✕ chance'),
  ];
}

// walk goes to the next event that passes the filters.
function walk(by) {
  chosenOp = null;
  const f = picture.filter, any = f.key < 0 && !f.migration && !f.node;
  for (let i = chosen + by; i >= 0 && i < view.events.length; i += by) {
    if (any || picture.matches(view.events[i])) return choose(i);
  }
}

// tell goes to the next moment of the story.
function tell(by) {
  const story = view.story || [];
  const now = chosenOp ? story.findIndex(m => m.op === chosenOp.id) :
    story.findIndex(m => m.step === view.events[chosen].s);
  const to = now < 0 ? (by > 0 ? story.findIndex(m => m.at >= view.events[chosen].t) :
    story.findLastIndex(m => m.at <= view.events[chosen].t)) : now + by;
  if (story[to]) pickMoment(story[to]);
}

function showEvent(e) {
  const what = chosenOp ? chosenOp.x : e.x;
  const code = (!chosenOp && e.c || []).map(c => view.code[c]);
  fill('event', make('div', {class: 'card'},
    make('div', {},
      make('a', {href: '#' + address(e.s), class: 'mono'}, chosenOp ? 'op ' + chosenOp.id :
        'step ' + e.s), ' ',
      make('span', {class: 'mono faint'}, duration(chosenOp ? chosenOp.t : e.t)), '  ',
      make('strong', {}, what)),
    code.length ? make('div', {class: 'mono'}, 'code  ', make('strong', {}, code[0])) : null,
    ...code.slice(1, 6).map(c => make('div', {class: 'mono faint'}, 'from  ' + c))));
}

function showAround() {
  const f = picture.filter, any = f.key < 0 && !f.migration && !f.node, rows = [];
  const take = (from, by, most) => {
    const found = [];
    for (let i = from; i >= 0 && i < view.events.length && found.length < most; i += by) {
      if (any || i === chosen || picture.matches(view.events[i])) found.push(i);
    }
    return found;
  };
  rows.push(...take(chosen - 1, -1, 8).reverse(), ...take(chosen, 1, 13));
  fill('around', make('h2', {}, 'Events around'), make('div', {class: 'list'}, ...rows.map(i => {
    const e = view.events[i];
    return make('div', {class: 'row' + (i === chosen ? ' now' : '') + (e.o ? ' must' : ''),
      id: address(e.s), onclick: () => pick(e.s)},
    make('a', {class: 'time', href: '#' + address(e.s)}, String(e.s)),
    make('span', {class: 'time'}, duration(e.t)), make('span', {class: 'text'}, e.x));
  })));
}

// showState shows the cluster at the last step up to the event whose state is on record, with the
// lines that differ from the one before.
function showState(e) {
  const {lines, at} = view.states;
  let n = -1;
  while (n + 1 < at.length && at[n + 1].s <= e.s) n++;
  if (n < 0) return fill('state', make('h2', {}, 'The cluster: nothing is on record yet'));
  const s = at[n], before = at[n - 1] || {};
  const part = (title, name, open) => {
    if (!s[name]) return null;
    const old = new Set(before[name] || []);
    return make('details', {open}, make('summary', {}, title), make('pre', {}, ...s[name].map(l =>
      make('div', {class: old.size && !old.has(l) ? 'changed' : ''}, lines[l] || ' '))));
  };
  fill('state', make('h2', {}, `The cluster after step ${s.s}`,
    make('span', {class: 'faint'}, '  as `step` shows it; marked lines have just changed')),
  part('Who owns and holds the key', 'who', true), part('Catalog', 'catalog', true),
  part('Nodes', 'nodes', true), part('Migrations', 'migrations', true),
  part('Faults', 'faults', true));
}

function showParting() {
  const p = DATA.parting;
  if (!p) return fill('parting');
  const failing = DATA.views.find(v => v.name === 'run');
  const passing = DATA.views.find(v => v.name === 'passing');
  const column = (title, v, step, first, only) => {
    const at = v.events.findIndex(e => e.s >= step), rows = [];
    for (let i = Math.max(0, at - 4); at >= 0 && i < Math.min(v.events.length, at + 9); i++) {
      const e = v.events[i];
      rows.push(make('div', {class: 'row' + (i === at ? ' now' : '')},
        make('a', {class: 'time', href: '#' + address(e.s, v)}, String(e.s)),
        make('span', {class: 'time'}, duration(e.t)), make('span', {class: 'text'}, e.x)));
    }
    return make('div', {}, make('h2', {}, title), make('div', {}, 'first difference: ' + first),
      make('div', {}, 'only here: ' + (only || 'nothing')), make('div', {class: 'list'}, ...rows));
  };
  fill('parting', make('div', {class: 'card'},
    make('h2', {}, 'The nearest run that passes: ' + p.change),
    make('div', {class: 'two'},
      column('Failing', failing, p.failingStep, p.failing, p.only),
      column('Passing', passing, p.passingStep, p.passing, p.instead))));
}

function showMore() {
  const rows = view.checks.map(c => make('tr', {}, make('td', {class: 'outcome ' + c.outcome},
    c.outcome), make('td', {}, c.checker), make('td', {}, c.promise,
    ...(c.broke || []).slice(0, 5).map(b => make('div', {class: 'proof'}, b)))));
  const scenario = make('details', {open: view.name === 'smallest'},
    make('summary', {}, 'Scenario: what this run is made of, ready to be replayed'),
    make('pre', {}, view.scenario));
  fill('more',
    (DATA.commands || []).length ? make('details', {open: true},
      make('summary', {}, 'Commands'), make('pre', {}, DATA.commands.join('\n'))) : null,
    view.name === 'smallest' ? scenario : null,
    make('details', {}, make('summary', {}, 'All verdicts'), make('table', {}, ...rows)),
    view.name === 'smallest' ? null : scenario,
    make('p', {class: 'faint'}, [DATA.build, view.left ? `${view.left.toLocaleString('en')} ` +
      'routine events are not in this page; the folder of the run has them' : '']
      .filter(Boolean).join(' · ')));
}

const KEYS = {
  ArrowRight: ['next event', () => walk(1)], ArrowLeft: ['previous event', () => walk(-1)],
  j: ['next moment of the story', () => tell(1)], k: ['previous moment', () => tell(-1)],
  h: ['HERE, where it went wrong', () => {
    const here = (view.story || []).find(m => m.here);
    if (here) pickMoment(here);
  }],
  '+': ['zoom in', () => picture.zoom(.5, picture.scale.at(picture.now))],
  '-': ['zoom out', () => picture.zoom(2, picture.scale.at(picture.now))],
  '[': ['to the left', () => picture.pan(-.3)], ']': ['to the right', () => picture.pan(.3)],
  f: ['what the story spans', () => picture.fit(true)],
  0: ['the whole run', () => picture.fit(false)],
  m: ['messages', () => press('messages')], l: ['all lanes', () => press('all lanes')],
  t: ['stretch', () => press('stretch')],
  v: ['next run', () => {
    const i = DATA.views.indexOf(view);
    open(DATA.views[(i + 1) % DATA.views.length].name);
  }],
  '?': ['these keys', () => showKeys()],
};

function press(text) {
  for (const b of $('tools').querySelectorAll('button')) if (b.textContent === text) b.click();
}

function showKeys() {
  const at = $('keys');
  at.hidden = !at.hidden;
  $('help').setAttribute('aria-expanded', !at.hidden);
  at.replaceChildren(...Object.entries(KEYS).flatMap(([key, [about]]) =>
    [make('kbd', {}, key.replace('Arrow', '')), ` ${about}   `]));
}

function begin() {
  for (const v of DATA.views) {
    $('views').append(make('button', {role: 'tab', 'data-view': v.name,
      onclick: () => open(v.name)}, v.title));
  }
  if (DATA.views.length < 2) $('views').hidden = true;
  $('help').addEventListener('click', showKeys);
  document.addEventListener('keydown', k => {
    if (k.ctrlKey || k.metaKey || k.altKey || /SELECT|INPUT/.test(k.target.tagName)) return;
    if (!KEYS[k.key]) return;
    k.preventDefault();
    KEYS[k.key][1]();
    picture.draw();
  });
  $('canvas').addEventListener('wheel', w => {
    if (!w.ctrlKey && !w.shiftKey) return;
    w.preventDefault();
    const box = $('canvas').getBoundingClientRect();
    picture.zoom(w.deltaY > 0 ? 1.25 : .8, picture.unit(w.clientX - box.left));
    picture.draw();
  }, {passive: false});
  $('canvas').addEventListener('click', c => {
    const x = c.clientX - $('canvas').getBoundingClientRect().left;
    pick(null, picture.scale.time(picture.unit(x)));
  });
  addEventListener('resize', () => picture.draw());
  addEventListener('hashchange', follow);
  addEventListener('beforeprint', () => { $('keys').hidden = true; picture.draw(); });
  follow();
  showParting();
}

// follow goes where the address says.
function follow() {
  const found = /^#(?:(smallest|passing)-)?e(\d+)$/.exec(location.hash);
  const name = found ? found[1] || 'run' : DATA.views[0].name;
  if (found && view && view.name === name) pick(Number(found[2]));
  else open(name, found && Number(found[2]));
}

begin();

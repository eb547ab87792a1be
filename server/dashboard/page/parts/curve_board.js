/** Charts of curves under common controls: the scale, smoothing and the range of steps hold for all. */

import {curveLegend} from '../charts/curve_legend.js';
import {curves} from '../charts/curves.js';
import {h, replace} from '../dom.js';
import {count, plural} from '../format.js';
import {curveFeed} from './curve_feed.js';
import {failure} from './failure.js';

const SMOOTHING = [['Smoothing: off', '0'], ['Smoothing: light', '0.6'], ['Smoothing: medium', '0.9'], ['Smoothing: strong', '0.98']];
const EMPTY = {steps: [], values: [], total: 0};

/* ----------------------------------------------------------------------------------- controls */

function controls(state, {query, setQuery}, changed) {
  const log = h('button', {type: 'button', class: 'small', 'aria-pressed': String(state.isLog), 'data-test': 'log-scale'}, 'Log scale');
  log.addEventListener('click', () => {
    state.isLog = !state.isLog;
    log.setAttribute('aria-pressed', String(state.isLog));
    setQuery({log: state.isLog ? '1' : null});
    changed();
  });
  const smoothing = h('select', {'aria-label': 'Smoothing', value: query.get('smoothing') ?? '0', 'data-test': 'smoothing'},
    SMOOTHING.map(([label, value]) => h('option', {value}, label)));
  smoothing.addEventListener('change', () => {
    state.smoothing = Number(smoothing.value);
    setQuery({smoothing: state.smoothing ? smoothing.value : null});
    changed();
  });
  return [log, smoothing];
}

/* ------------------------------------------------------------------------------------- panels */

/** What is said below a chart: how much of it is seen, and what could not be drawn. */
function remark(shown, isLog) {
  const drawn = shown.reduce((sum, {curve}) => sum + curve.steps.length, 0);
  const total = shown.reduce((sum, {curve}) => sum + curve.total, 0);
  const odd = shown.reduce((sum, {curve}) => sum + curve.values.filter((value) => !Number.isFinite(value)).length, 0);
  const low = isLog ? shown.reduce((sum, {curve}) => sum + curve.values.filter((value) => value <= 0 && value > -Infinity).length, 0) : 0;
  return [
    drawn < total ? `${count(drawn)} of ${plural(total, 'point')} are drawn, the extremes among them; zoom in for more.` : null,
    odd > 0 ? `${plural(odd, 'value is', 'values are')} not finite: × NaN, ↑ ∞, ↓ −∞.` : null,
    low > 0 ? `${plural(low, 'value has', 'values have')} no place on a logarithmic scale (↓).` : null,
  ].filter(Boolean).join(' ');
}

/** Curves without a positive value have no logarithmic scale: they stay on the linear one. */
function hasPositive(series) {
  return series.some(({curve}) => curve.values.some((value) => value > 0 && value < Infinity));
}

/** A card: heading, chart, legend, remark. */
function panelOf(title, state, outer, onRange) {
  const stop = new AbortController();
  const signal = AbortSignal.any([outer, stop.signal]);
  const hidden = new Set();
  let shown = [];
  let direction = 'none';
  const legend = curveLegend((key, isShown) => {
    hidden[isShown ? 'delete' : 'add'](key);
    draw();
  });
  const chart = curves([], {signal, label: `${title} by step; its figures stand in the table after it`, onRange, onStep: legend.at});
  const note = h('p', {class: 'muted small', 'data-test': 'curve-remark'});
  const wait = h('p', {class: 'empty', hidden: true});
  const element = h('section', {class: 'card curve-panel', 'data-test': 'curve-panel'},
    h('h2', {}, title), wait, h('div', {class: 'curve-body'}, chart, legend), note);
  const draw = () => {
    wait.hidden = shown.length > 0;
    replace(wait, state.range ? 'There is no point in these steps.' : 'There is no point yet.');
    chart.parentElement.hidden = shown.length === 0;
    const seen = shown.filter(({key}) => !hidden.has(key));
    const isLog = state.isLog && hasPositive(seen);
    chart.update(shown, {isLog, smoothing: state.smoothing, range: state.range, hidden});
    const text = remark(seen, isLog);
    note.hidden = text === '';
    replace(note, text);
  };
  return {
    element,
    end: () => stop.abort(),
    update(series, feed) {
      shown = series.map((one, place) => ({...one, place, curve: feed.curve(one.trial, one.metric) ?? EMPTY})).filter(({curve}) => curve.steps.length > 0);
      direction = shown[0]?.curve.direction ?? direction;
      legend.update(shown, {direction, hidden});
      draw();
    },
  };
}

/* -------------------------------------------------------------------------------------- board */

/** What to ask for: a trial's metrics together. */
function wishes(panels) {
  const byTrial = new Map();
  for (const {trial, metric, isLive} of panels.flatMap(({series}) => series)) {
    const wish = byTrial.get(trial) ?? {trial, metrics: [], isLive};
    byTrial.set(trial, wish);
    wish.metrics.push(metric);
  }
  return [...byTrial.values()];
}

function zoomBar(state, see) {
  const text = h('span', {class: 'muted small'});
  const all = h('button', {type: 'button', class: 'small', 'data-test': 'zoom-reset', on: {click: () => see(null)}}, 'Show all steps');
  const bar = h('div', {class: 'row', hidden: true, 'data-test': 'zoom-bar'}, text, all);
  bar.show = () => {
    bar.hidden = state.range === null;
    replace(text, state.range ? `steps ${state.range.map(count).join(' to ')}` : '');
  };
  return bar;
}

/**
 * @typedef {{key: string, label: string, detail?: string, href?: string, trial: string, metric: string,
 *   isLive: boolean}} Source a curve; isLive: its trial may still make points
 * @typedef {{title: string, series: Source[]}} Panel
 */

/**
 * @param {{signal, query, setQuery}} scope
 * @param {{extra?: HTMLElement[], isWide?: boolean}} options extra: further controls; isWide: one panel a row
 * @returns {HTMLElement} with update(panels: Panel[])
 */
export function curveBoard(scope, {extra = [], isWide = false} = {}) {
  const {signal, query} = scope;
  const state = {isLog: query.get('log') === '1', smoothing: Number(query.get('smoothing') ?? 0) || 0, range: null};
  const shown = new Map(); // by title
  let panels = [];
  let pending = false;
  const draw = () => {
    pending = false;
    panels.forEach(({title, series}) => shown.get(title).update(series, feed));
  };
  const changed = () => { // answers of many trials come together; they are drawn together
    if (!pending && !signal.aborted) {
      pending = true;
      requestAnimationFrame(draw);
    }
  };
  const trouble = h('div', {});
  const feed = curveFeed(signal, changed, (error) => replace(trouble, failure(error)));
  const see = (range) => {
    state.range = range;
    bar.show();
    feed.see(range);
    changed();
  };
  const bar = zoomBar(state, see);
  const grid = h('div', {class: isWide ? 'stack' : 'curve-grid'});
  const board = h('div', {class: 'stack curve-board', 'data-test': 'curve-board'},
    h('div', {class: 'row'}, extra, controls(state, scope, changed), bar), trouble, grid);
  board.update = (next) => {
    panels = next;
    const titles = new Set(next.map(({title}) => title));
    for (const [title, panel] of shown) {
      if (!titles.has(title)) {
        panel.end();
        shown.delete(title);
      }
    }
    for (const {title} of next) {
      shown.set(title, shown.get(title) ?? panelOf(title, state, signal, see));
    }
    replace(grid, next.map(({title}) => shown.get(title).element));
    feed.want(wishes(next));
    changed();
  };
  return board;
}

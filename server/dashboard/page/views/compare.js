import {get, poll} from '../api.js';
import {h, replace} from '../dom.js';
import {count, duration, interval, percent, plural} from '../format.js';
import {badge} from '../parts/badge.js';
import {breakable} from '../parts/breakable.js';
import {compareMatrices} from '../parts/compare_matrices.js';
import {figureRows, settingRows} from '../parts/compare_rows.js';
import {trainedWord} from '../parts/data_kind.js';
import {failure} from '../parts/failure.js';
import {jobCurves, parametersText} from '../parts/job_curves.js';
import {differingTargets, targetsNote} from '../parts/targets.js';
import {link} from '../router.js';

const OVER = new Set(['completed', 'stopped', 'cancelled', 'failed']);
const MOST = 12; // columns that can still be read

function without(trials, id) {
  return link('/compare', {trials: trials.map((trial) => trial.id).filter((other) => other !== id).join(',')});
}

function headCell(trial, trials) {
  return h('th', {scope: 'col', class: 'compare-head', 'data-test': 'compare-trial'},
    h('div', {class: 'row between nowrap'}, h('a', {href: `#/trials/${trial.id}`}, `Trial ${trial.index}`),
      h('a', {class: 'remove', href: without(trials, trial.id), 'aria-label': `Leave trial ${trial.index} out`, title: 'Leave out', 'data-test': 'compare-remove'}, '✕')),
    badge(trial.state), h('div', {class: 'muted small'}, `job ${trial.job.number} · ${parametersText(trial)}`));
}

function settingRow({name, texts}, isDiffering) {
  return h('tr', {class: isDiffering ? 'differs' : '', 'data-test': isDiffering ? 'differing-row' : 'same-row'},
    h('th', {scope: 'row'}, h('code', {}, breakable(name))), texts.map((text) => h('td', {class: 'break'}, text)));
}

function figureRow({name, title, texts, ranges, best}) {
  return h('tr', {'data-test': 'figure-row', 'data-metric': name}, h('th', {scope: 'row'}, title), texts.map((text, k) =>
    h('td', {class: best.includes(k) ? 'best' : '', 'data-test': best.includes(k) ? 'best' : null},
      text, best.includes(k) ? h('span', {class: 'best-mark', title: 'the best', 'aria-label': 'the best'}, ' ★') : null,
      ranges[k] ? h('div', {class: 'muted small'}, interval(...ranges[k])) : null)));
}

function progressRow(trials) {
  return h('tr', {}, h('th', {scope: 'row'}, 'Progress'), trials.map((trial) => h('td', {},
    trial.total_steps ? percent(trial.step / trial.total_steps) : '–',
    h('div', {class: 'muted small'}, `${plural(trial.step, 'step')}${trial.seconds === null ? '' : `, ${duration(trial.seconds)}`}`))));
}

function band(title, width) {
  return h('tr', {class: 'band'}, h('th', {colspan: width + 1, scope: 'colgroup'}, title));
}

/** One table for all: columns of figures and settings stand below each other. */
function table(trials, evaluations) {
  const {differing, same} = settingRows(trials);
  const targets = differingTargets(trials);
  const figures = figureRows(evaluations, targets.length === 0);
  const rest = same.map((row) => settingRow(row, false));
  const more = h('button', {type: 'button', class: 'small quiet', 'aria-expanded': 'false', 'data-test': 'show-same'}, `Show ${count(same.length)} that are the same`);
  const place = h('tbody', {hidden: true}, rest);
  more.addEventListener('click', () => {
    place.hidden = !place.hidden;
    more.setAttribute('aria-expanded', String(!place.hidden));
    replace(more, `${place.hidden ? 'Show' : 'Hide'} ${count(same.length)} that are the same`);
  });
  return h('div', {class: 'stack'}, targetsNote(targets), h('div', {class: 'table-box', tabindex: '0', role: 'region', 'aria-label': 'Comparison'},
    h('table', {class: 'compare', 'data-test': 'compare-table'},
      h('thead', {}, h('tr', {}, h('td', {}), trials.map((trial) => headCell(trial, trials)))),
      h('tbody', {}, progressRow(trials), figures.length > 0 ? band('Final figures', trials.length) : null, figures.map(figureRow)),
      h('tbody', {}, band('Settings that differ', trials.length), differing.map((row) => settingRow(row, true)),
        differing.length === 0 ? h('tr', {}, h('td', {colspan: trials.length + 1, class: 'muted'}, 'None: the trials are of one spec.')) : null,
        h('tr', {}, h('td', {colspan: trials.length + 1}, more))),
      place)));
}

async function evaluationsOf(trial, signal) {
  return trial.state === 'completed' || trial.state === 'stopped' || trial.state === 'failed'
    ? (await get(`/v1/trials/${trial.id}/evaluations`, {signal})).items
    : [];
}

/** Keeps rows and curves up to date while one of the trials is not over. */
function follow(trials, {signal}, onTrials) {
  let rows = trials;
  for (const trial of trials.filter(({state}) => !OVER.has(state))) {
    const stop = new AbortController();
    poll(`/v1/trials/${trial.id}`, (row) => {
      rows = rows.map((one) => (one.id === row.id ? row : one));
      onTrials(rows);
      if (OVER.has(row.state)) {
        stop.abort();
      }
    }, {signal: AbortSignal.any([signal, stop.signal])});
  }
}

/** Matrices of those that have ended; made anew when another one has. */
function matrices(scope) {
  const box = h('div', {});
  let shown = '';
  box.update = (trials) => {
    const ended = trials.filter(({state}) => state === 'completed' || state === 'stopped');
    const key = ended.map(({id}) => id).join();
    if (key !== shown) {
      shown = key;
      replace(box, ended.length > 0 ? compareMatrices(ended, scope) : null);
    }
  };
  return box;
}

async function fill(box, ids, scope) {
  const {signal} = scope;
  const trials = await Promise.all(ids.map((id) => get(`/v1/trials/${id}`, {signal})));
  const place = h('div', {});
  const show = async (rows) => {
    const evaluations = await Promise.all(rows.map((trial) => evaluationsOf(trial, signal)));
    replace(place, table(rows, evaluations));
  };
  await show(trials);
  const isRegression = trials.some(({summaries}) => 'training_rmse' in summaries);
  const words = new Set(trials.map(({resolved}) => trainedWord(resolved.kind, resolved)));
  const charts = jobCurves(trials, scope, {isRegression, word: words.size === 1 ? [...words][0] : 'sample'});
  const confusion = matrices(scope);
  const update = isRegression ? () => {} : confusion.update;
  update(trials);
  replace(box, place, charts, confusion);
  follow(trials, scope, (rows) => {
    charts.update(rows);
    update(rows);
    show(rows).catch((error) => signal.aborted || replace(place, failure(error)));
  });
}

/** Trials side by side: those that the address names. */
export function view(_, scope) {
  const ids = [...new Set((scope.query.get('trials') ?? '').split(',').filter(Boolean))];
  scope.title('Compare');
  const body = h('div', {class: 'stack compare-body'}, h('p', {class: 'empty'}, ids.length > 0 ? 'Loading …' : 'Choose trials in the table of a job, then Compare.'));
  if (ids.length > 0) {
    fill(body, ids.slice(0, MOST), scope).catch((error) => scope.signal.aborted || replace(body, failure(error)));
  }
  const more = ids.length > MOST ? h('p', {class: 'warning'}, `The first ${MOST} of ${ids.length} trials are shown.`) : null;
  return h('section', {class: 'view', 'data-test': 'compare'}, h('h1', {}, ids.length > 0 ? `Compare ${plural(Math.min(ids.length, MOST), 'trial')}` : 'Compare'), more, body);
}

/** Curves of several trials over each other, one metric at a time: for a job and for a comparison. */

import {h, replace} from '../dom.js';
import {count, value} from '../format.js';
import {curveBoard} from './curve_board.js';
import {curveName} from './data_kind.js';

const OVER = new Set(['completed', 'stopped', 'cancelled', 'failed']);
/** Three dashes of eight colours: more curves cannot be told apart. */
export const CURVES_MOST = 24;

/** "learning_rate 0.01, solver adam": a sweep's values as short as they stay clear. */
export function parametersText(trial) {
  const words = Object.entries(trial.parameters ?? {}).map(([key, chosen]) => `${key.split('.').pop()} ${value(chosen)}`);
  return [...words, `seed ${trial.seed}`].join(', ');
}

function seriesOf(trials, metric) {
  return trials.slice(0, CURVES_MOST).map((trial) => ({
    key: trial.id, label: `Trial ${trial.index}`, detail: parametersText(trial), href: `#/trials/${trial.id}?tab=curves`,
    trial: trial.id, metric, isLive: !OVER.has(trial.state),
  }));
}

/** Whether a trial may have points: one that never ran has none. */
function hasRun(trial) {
  return trial.step > 0 || trial.state === 'running';
}

/** The metrics to choose from, those of the task. */
function metricsOf(isRegression) {
  const measure = isRegression ? 'rmse' : 'accuracy';
  return ['training_loss', 'validation_loss', `training_${measure}`, `validation_${measure}`, 'learning_rate', 'gradient_norm',
    'images_per_second'];
}

/**
 * Overlaid curves of trials of one kind. The chosen metric stands in the address as `metric`.
 * @param {Object[]} trials as the API lists them; the first 24 that have run are drawn
 * @param {{signal, query, setQuery}} scope
 * @param {{isRegression?: boolean, word?: string, extra?: HTMLElement[], total?: number}} options word: what the trials are given one by
 *   one; extra: further controls; total: trials
 *   that there are, when those given are only some of them
 * @returns {HTMLElement} with update(trials), to be called when trials or their states change
 */
export function jobCurves(trials, scope, {isRegression = false, word = 'sample', extra = [], total = 0} = {}) {
  const metrics = metricsOf(isRegression);
  const asked = scope.query.get('metric');
  const choice = h('select', {'aria-label': 'Metric', 'data-test': 'curve-metric', value: metrics.includes(asked) ? asked : metrics[0]},
    metrics.map((name) => h('option', {value: name}, curveName(name, word))));
  const board = curveBoard(scope, {extra: [...extra, choice], isWide: true});
  const more = h('p', {class: 'muted small', hidden: true});
  const element = h('div', {class: 'stack', 'data-test': 'job-curves'}, board, more);
  let shown = [];
  const show = () => {
    board.update([{title: curveName(choice.value, word), series: seriesOf(shown, choice.value)}]);
    const all = Math.max(total, shown.length);
    more.hidden = all <= CURVES_MOST;
    replace(more, `Up to ${CURVES_MOST} of ${count(all)} trials are drawn; choose some in the table and compare them to see others.`);
  };
  choice.addEventListener('change', () => {
    scope.setQuery({metric: choice.value});
    show();
  });
  element.update = (next) => {
    shown = next.filter(hasRun);
    show();
  };
  element.update(trials);
  return element;
}

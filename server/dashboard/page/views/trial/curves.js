import {h} from '../../dom.js';
import {poll} from '../../api.js';
import {curveBoard} from '../../parts/curve_board.js';
import {curveName, trainedWord} from '../../parts/data_kind.js';

const OVER = new Set(['completed', 'stopped', 'cancelled', 'failed']);
const ORDER = ['loss', 'accuracy', 'rmse', 'learning_rate', 'gradient_norm', 'images_per_second', 'loader_stall_seconds'];
const SIDES = [['training_', 'Training'], ['validation_', 'Validation']];

function rank(measure) {
  const place = ORDER.indexOf(measure);
  return place < 0 ? ORDER.length : place;
}

/** Training and validation of one measure share a chart: their distance is what one looks for. */
function panelsOf(trial, word) {
  const byMeasure = new Map();
  for (const metric of Object.keys(trial.summaries).sort()) {
    const side = SIDES.find(([prefix]) => metric.startsWith(prefix));
    const measure = side ? metric.slice(side[0].length) : metric;
    const panel = byMeasure.get(measure) ?? {measure, title: curveName(measure, word), series: []};
    byMeasure.set(measure, panel);
    panel.series.push({key: metric, label: side ? side[1] : curveName(metric, word), trial: trial.id, metric, isLive: !OVER.has(trial.state)});
  }
  return [...byMeasure.values()].sort((a, b) => rank(a.measure) - rank(b.measure) || a.title.localeCompare(b.title));
}

/** The training curves of a trial, live. */
export const tab = {
  name: 'curves',
  label: 'Curves',
  applies: () => true,
  show(trial, job, scope) {
    const board = curveBoard(scope);
    const empty = h('p', {class: 'empty', 'data-test': 'no-curves'}, 'There is no point yet: curves appear about a second after the first step.');
    const show = (row) => {
      empty.hidden = Object.keys(row.summaries).length > 0;
      board.hidden = !empty.hidden;
      board.update(panelsOf(row, trainedWord(job.kind, row.resolved)));
    };
    show(trial);
    if (!OVER.has(trial.state)) {
      poll(`/v1/trials/${trial.id}`, show, {signal: scope.signal});
    }
    return h('div', {}, empty, board);
  },
};

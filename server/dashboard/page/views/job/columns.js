/** The columns of a table of trials: what each shows, sorts by and is called. */

import {h} from '../../dom.js';
import {count, duration, interval, metricName, number, plural, value} from '../../format.js';
import {badge} from '../../parts/badge.js';
import {progress} from '../../parts/progress.js';

/**
 * @typedef {{key: string, label: string, width: number, numeric?: boolean, hidden?: boolean, least?: number,
 *   title?: string, of: function(Object): *, cell: function(Object): *}} Column
 *   width in pixels; least: how narrow a column may become of those that must be seen together; hidden: until somebody chooses
 *   it; of: what is sorted, filtered and exported
 */

/** Numbers come as such or named; what is no number sorts last. */
function numeric(x) {
  return x === null || x === undefined ? null : Number(x);
}

const WISHES = {cancel: 'cancelling', stop: 'stopping', pause: 'pausing'};

function stateCell(row) {
  return [badge(row.state), row.requested ? h('span', {class: 'muted small'}, ` ${WISHES[row.requested]} …`) : null,
    row.discarded ? h('span', {class: 'chip'}, 'discarded') : null];
}

function shareOf({state, step, total_steps: total}) {
  return state === 'completed' ? 1 : total ? step / total : null;
}

/** A bar while there is something to wait for; afterwards the steps that were made. */
function progressCell(row) {
  const steps = plural(row.step, 'step');
  if (row.state === 'running' || row.state === 'paused') {
    const title = `${count(row.step)} of ${plural(row.total_steps, 'step')}, epoch ${count(row.epoch)}${row.phase ? `, ${row.phase}` : ''}`;
    return h('div', {title}, progress(shareOf(row), `Progress of trial ${row.index}`));
  }
  return h('span', {class: 'muted'}, row.state === 'queued' && row.step === 0 ? 'waits' : steps);
}

const INDEX = {
  key: 'index', label: '#', width: 64, least: 38, numeric: true, of: (row) => row.index,
  cell: (row) => h('a', {href: `#/trials/${row.id}`, 'data-test': 'trial-link'}, String(row.index)),
};

function stateColumns() {
  return [
    {key: 'state', label: 'State', width: 130, of: (row) => row.state, cell: stateCell},
    {key: 'progress', label: 'Progress', width: 160, of: shareOf, cell: progressCell},
    {key: 'epoch', label: 'Epoch', width: 76, numeric: true, hidden: true, of: (row) => row.epoch, cell: (row) => count(row.epoch)},
  ];
}

function closingColumns() {
  return [
    {key: 'training_loss', label: 'Training loss', width: 112, numeric: true, of: (row) => numeric(row.training_loss),
      cell: (row) => number(row.training_loss)},
    {key: 'seconds', label: 'Time', width: 100, numeric: true, of: (row) => numeric(row.seconds), cell: (row) => duration(row.seconds)},
    {key: 'attempt', label: 'Attempt', width: 80, numeric: true, hidden: true, of: (row) => row.attempt, cell: (row) => count(row.attempt)},
  ];
}

/** The reason of a failure; what else happened is told in words, too. */
const REASON = {
  key: 'reason', label: 'Reason', width: 260, of: (row) => (row.error ? `${row.error.class}: ${row.error.text ?? ''}` : ''),
  cell: (row) => (row.error
    ? h('span', {class: 'bad', title: row.explanation}, h('strong', {}, row.error.class.replaceAll('_', ' ')), row.error.text ? `: ${row.error.text}` : '')
    : h('span', {class: 'muted', title: row.explanation}, row.explanation)),
};

/** Wide enough for its title with the sign of the sort. */
function widthOf(label, least) {
  return Math.max(least, Math.ceil(7.6 * label.length) + 46);
}

/** Wide enough for the values, if they are short. */
function leastFor(texts) {
  const longest = Math.max(0, ...texts.map((text) => text.length));
  return Math.min(116, Math.max(56, Math.ceil(8 * longest) + 14));
}

function parameterColumn(name, rows, targets) {
  const label = metricName(name.split('.').at(-1));
  return {
    key: name, label, title: targets.includes(name) ? `${name}, which changes what is to be predicted` : name, width: widthOf(label, 104),
    least: leastFor(rows.map((row) => value(row.parameters[name]))),
    of: (row) => row.parameters[name] ?? null, cell: (row) => h('span', {class: 'strong'}, value(row.parameters[name])),
  };
}

function metricColumn(name, headline) {
  return {
    key: name, label: metricName(name), title: name, width: widthOf(metricName(name), 184), least: name === headline ? 84 : null, numeric: true,
    hidden: name !== headline && !name.startsWith('validation_') && !name.startsWith('test_'),
    of: (row) => numeric(row.metrics[name]?.value),
    cell: (row) => {
      const figure = row.metrics[name];
      const range = figure ? interval(figure.low, figure.high) : '';
      return [h('span', {class: name === headline ? 'strong' : null}, number(figure?.value)),
        range ? h('span', {class: 'muted small interval', title: '95 % interval'}, `  ${range}`) : null];
    },
  };
}

/**
 * @param {Object[]} rows trials as the results table gives them
 * @param {string[]} metrics names of the figures that there are
 * @param {string} headline what trials are ranked by
 * @param {Column[]} own columns of the view: notes and labels
 * @param {string[]} targets parameters that change the target
 * @returns {Column[]} first what tells trials apart, and how they did
 */
export function columnsOf(rows, metrics, headline, own, targets) {
  const parameters = [...new Set(rows.flatMap((row) => Object.keys(row.parameters)))];
  const seeds = new Set(rows.map((row) => row.seed)).size;
  const ordered = [...metrics].sort((a, b) => (b === headline) - (a === headline));
  const [first, ...others] = ordered.map((name) => metricColumn(name, headline));
  return [
    INDEX,
    ...parameters.map((name) => parameterColumn(name, rows, targets)),
    {key: 'seed', label: 'Seed', width: 72, least: 44, numeric: true, hidden: seeds < 2, of: (row) => row.seed, cell: (row) => String(row.seed)},
    ...(first ? [first] : []),
    ...stateColumns(),
    ...others,
    ...closingColumns(), ...own, REASON,
  ];
}

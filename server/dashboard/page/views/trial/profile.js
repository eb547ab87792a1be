import {get} from '../../api.js';
import {h, replace} from '../../dom.js';
import {count, duration, number, percent, plural} from '../../format.js';
import {breakable} from '../../parts/breakable.js';
import {failure} from '../../parts/failure.js';

const OVER = new Set(['completed', 'stopped', 'failed']);
const PHASES = [['forward', 'Forward'], ['backward', 'Backward'], ['loss', 'Loss'], ['update', 'Update'], ['data_wait', 'Waiting for data'], ['other', 'Other']];

/** Of one step: "1.24 ms", "38 µs". */
function stepTime(seconds) {
  if (seconds >= 1) {
    return duration(seconds);
  }
  return seconds >= 1e-3 ? `${number(Number((seconds * 1e3).toPrecision(3)))} ms` : `${number(Number((seconds * 1e6).toPrecision(3)))} µs`;
}

function phaseShares(items) {
  return PHASES.map(([phase, label]) => ({
    phase, label, share: items.filter((item) => item.phase === phase).reduce((sum, {share}) => sum + share, 0),
  }));
}

/** The step as one bar, cut by phase. */
function stepBar(shares) {
  const seen = shares.filter(({share}) => share > 0);
  return h('div', {class: 'stack'},
    h('div', {class: 'phase-bar', role: 'img', 'aria-label': seen.map(({label, share}) => `${label} ${percent(share)}`).join(', '), 'data-test': 'phase-bar'},
      seen.map(({phase, label, share}) => h('span', {class: `phase phase-${phase}`, style: {'flex-grow': String(share)}, title: `${label}: ${percent(share)}`}))),
    h('ul', {class: 'phase-legend'}, shares.map(({phase, label, share}) =>
      h('li', {'data-test': `phase-${phase}`}, h('span', {class: `phase-mark phase-${phase}`, 'aria-hidden': 'true'}), `${label} `, h('strong', {}, percent(share))))));
}

function shareCell(share, phase, most) {
  return h('td', {class: 'share-cell'}, h('div', {class: 'share'},
    h('span', {class: 'share-track', 'aria-hidden': 'true'}, h('span', {class: `share-bar phase-${phase}`, style: {width: `${(100 * share) / most}%`}})),
    h('span', {class: 'numeric'}, percent(share))));
}

function phaseLabel(phase) {
  return PHASES.find(([name]) => name === phase)?.[1] ?? phase;
}

const VIEWS = {
  operator: {
    label: 'By operator',
    rows: (profile) => profile.items,
    heads: ['Operator', 'Phase'],
    counts: ['Layers'],
    cells: (item) => [h('th', {scope: 'row'}, breakable(item.operator)), h('td', {}, phaseLabel(item.phase)),
      h('td', {class: 'numeric secondary'}, item.layers ? count(item.layers) : '–')],
  },
  layer: {
    label: 'By layer',
    rows: (profile) => profile.by_layer,
    heads: ['Layer', 'Operator', 'Phase'],
    counts: [],
    cells: (item) => [h('th', {scope: 'row'}, breakable(item.layer ?? '–')), h('td', {class: 'secondary'}, breakable(item.operator)), h('td', {}, phaseLabel(item.phase))],
  },
};

function table(profile, name) {
  const {rows, heads, counts, cells} = VIEWS[name];
  const items = rows(profile);
  const most = Math.max(...items.map(({share}) => share), 1e-9);
  return h('div', {class: 'table-box', tabindex: '0', role: 'region', 'aria-label': VIEWS[name].label}, h('table', {'data-test': 'profile-table'},
    h('thead', {}, h('tr', {}, heads.map((text) => h('th', {scope: 'col', class: name === 'layer' && text === 'Operator' ? 'secondary' : null}, text)),
      counts.map((text) => h('th', {scope: 'col', class: 'numeric secondary'}, text)), h('th', {scope: 'col', class: 'numeric'}, 'A step'),
      h('th', {scope: 'col'}, 'Share'))),
    h('tbody', {}, items.map((item) => h('tr', {'data-test': 'profile-row'}, cells(item),
      h('td', {class: 'numeric'}, stepTime(item.seconds)), shareCell(item.share, item.phase, most))))));
}

function content(profile) {
  const shares = phaseShares(profile.items);
  const place = h('div', {}, table(profile, 'operator'));
  const buttons = Object.entries(VIEWS).map(([name, {label}]) => h('button', {
    type: 'button', class: 'small', 'aria-pressed': String(name === 'operator'), 'data-test': `profile-by-${name}`,
    on: {click: ({currentTarget}) => {
      buttons.forEach((button) => button.setAttribute('aria-pressed', String(button === currentTarget)));
      replace(place, table(profile, name));
    }},
  }, label));
  return [
    h('section', {class: 'card'},
      h('h2', {}, `A step takes ${stepTime(profile.seconds_per_step)}`), stepBar(shares),
      h('p', {class: 'muted small', 'data-test': 'profile-steps'},
        `Mean of ${plural(profile.steps, 'step')} after warm-up, self time on one level. Beside the steps: ${stepTime(profile.validation_seconds)} of validation, `
        + `${stepTime(profile.checkpoint_seconds)} of checkpoints.`)),
    h('div', {class: 'row'}, buttons), place,
  ];
}

/** Where the time of a training step went. */
export const tab = {
  name: 'profile',
  label: 'Profile',
  applies: (trial) => OVER.has(trial.state),
  show(trial, job, {signal}) {
    const box = h('div', {class: 'stack', 'data-test': 'profile'});
    get(`/v1/trials/${trial.id}/profile`, {signal})
      .then((profile) => replace(box, content(profile)))
      .catch((error) => signal.aborted || replace(box,
        error.status === 404 ? h('p', {class: 'empty'}, 'No step of this trial was measured.') : failure(error)));
    return box;
  },
};

import {h} from '../../dom.js';
import {choice, field} from '../../parts/field.js';
import {listText, parsedList, pointerOf} from '../../parts/spec.js';

const DATA = {image_classification: 'Pictures', sequences: 'Sequences', signals: 'Signals'};

function text(name, edit, read = (value) => value) {
  return h('input', {name, 'data-pointer': pointerOf([name]), 'data-test': `field-${name}`, autocomplete: 'off', on: {
    input: (event) => edit([name], event.target.value.trim() ? read(event.target.value.trim()) : undefined),
  }});
}

function datasetChoice(datasets, edit) {
  const groups = Object.entries(DATA).map(([kind, label]) => h('optgroup', {label}, datasets.filter((one) => one.kind === kind)
    .map(({id, name}) => h('option', {value: id}, name))));
  return h('select', {name: 'dataset', 'data-pointer': '/dataset', 'data-test': 'field-dataset', on: {
    change: (event) => edit(['dataset'], event.target.value || undefined),
  }}, h('option', {value: ''}, 'choose one'), groups);
}

function set(control, value) {
  if (document.activeElement !== control) {
    control.value = value ?? '';
  }
}

/**
 * What every job has: kind, data, names, seeds.
 * @param {{kinds: string[], datasets: Object[], experiments: string[]}} known
 * @param {function(string[], *)} edit
 */
export function basics({kinds, datasets, experiments}, edit) {
  const kind = choice(kinds.map((one) => [one, one.replaceAll('_', ' ')]), {name: 'kind', 'data-pointer': '/kind', 'data-test': 'field-kind', on: {
    change: () => edit(['kind'], kind.value),
  }});
  const dataset = datasetChoice(datasets, edit);
  const experiment = h('input', {list: 'experiments', placeholder: 'default', 'data-pointer': '/experiment', 'data-test': 'field-experiment', autocomplete: 'off', on: {
    input: () => edit(['experiment'], experiment.value.trim() || undefined),
  }});
  const name = text('name', edit);
  const notes = text('notes', edit);
  const labels = text('labels', edit, (value) => value.split(',').map((word) => word.trim()).filter(Boolean));
  const seeds = text('seeds', edit, parsedList);
  seeds.placeholder = '1';
  const element = h('div', {class: 'form-grid'}, field('Kind', kind), field('Data set', dataset), field('Experiment', experiment, 'groups jobs; made when it is new'),
    field('Name', name), field('Labels', labels, 'words, with commas'), field('Seeds', seeds, 'each is a trial of its own'), field('Notes', notes),
    h('datalist', {id: 'experiments'}, experiments.map((value) => h('option', {value}))));
  const show = (spec) => {
    set(kind, spec.kind);
    set(dataset, spec.dataset);
    set(experiment, spec.experiment);
    set(name, spec.name);
    set(notes, spec.notes);
    set(labels, spec.labels?.join(', '));
    set(seeds, spec.seeds && listText([spec.seeds].flat()));
  };
  const none = datasets.length ? null : h('p', {class: 'warning'}, 'There is no data set yet. ', h('a', {href: '#/datasets'}, 'Make one'), ' first.');
  return {element: h('div', {class: 'stack'}, none, element), show};
}

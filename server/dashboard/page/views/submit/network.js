import {h, replace} from '../../dom.js';
import {plural} from '../../format.js';
import {keepDraft} from '../../parts/draft.js';
import {choice, field} from '../../parts/field.js';
import {templateForm} from '../../parts/template_form.js';
import {link} from '../../router.js';

const TAKES = {image_classification: 'image_input', sequences: 'sequence_input', signals: 'image_input'};
const OWN = ' own';

/** A network by layers is edited where it is drawn. */
function ownNetwork(network, dataset) {
  return h('p', {}, `${plural(network.layers.length, 'layer')}${network.name ? `, made of ${network.name}` : ''}. `, h('a', {
    href: link('/networks/draft', {dataset}), 'data-test': 'network-edit-own', on: {click: () => keepDraft(network)},
  }, 'Look at it and edit it'));
}

/** Parameters may stand beside the name or together. */
function valuesOf({name, parameters, ...rest}) {
  return {...parameters, ...rest};
}

/**
 * Network and weights of the job.
 * @param {{networks: Object[], weights: Object[], datasets: Object[]}} known
 * @param {function(string[], *)} edit
 */
export function networkForm({networks, weights, datasets}, edit) {
  const parameters = h('div', {});
  const name = h('select', {'data-pointer': '/network', 'data-test': 'field-network', on: {
    change: () => edit(['network'], name.value ? {name: name.value} : undefined),
  }});
  const from = choice([['', 'none, begin at random'], ...weights.map(({id, name: text}) => [id, text])], {'data-pointer': '/weights', 'data-test': 'field-weights', on: {
    change: () => edit(['weights'], from.value || undefined),
  }});
  let shown = '';
  const showParameters = ({network, dataset}) => {
    const template = networks.find((one) => one.name === network?.name && !network.layers);
    const key = JSON.stringify([network, dataset]);
    if (key === shown || parameters.contains(document.activeElement)) {
      return;
    }
    shown = key;
    replace(parameters, network?.layers ? ownNetwork(network, dataset)
      : template ? templateForm(template.parameters, valuesOf(network), (values) => edit(['network'], {name: network.name, ...values})) : null);
  };
  const show = (spec, resolved, swept, isStale) => {
    const kind = datasets.find(({id}) => id === spec.dataset)?.kind;
    const fitting = networks.filter(({input}) => !kind || input === TAKES[kind]);
    const own = spec.network?.layers ? [[OWN, 'layers of your own']] : [];
    const fallback = resolved?.network?.name && !isStale ? `default (${resolved.network.name})` : 'default';
    const chosen = spec.network?.layers ? OWN : spec.network?.name ?? '';
    replace(name, [['', spec.network ? 'default' : fallback], ...own, ...fitting.map((one) => [one.name, one.title ? `${one.name}: ${one.title}` : one.name])]
      .map(([value, text]) => h('option', {value, selected: value === chosen}, text)));
    from.value = typeof spec.weights === 'string' ? spec.weights : '';
    showParameters(spec);
  };
  return {element: h('div', {class: 'stack'}, h('div', {class: 'form-grid'}, field('Network', name), field('Weights to start from', from)), parameters), show};
}

/** What a network says of one picture or sequence. */
import {bars} from '../charts/bars.js';
import {h} from '../dom.js';
import {percent} from '../format.js';

/**
 * The class with how sure the network is, and the others; or why there is none.
 * @param {{predicted: ?string, probability: (number|string), classes: Object[], warning: string=}} result of a question
 * @returns {Element[]}
 */
export function saidOf({predicted, probability, classes, warning}) {
  if (predicted === null) {
    return [h('p', {class: 'answer'}, h('b', {'data-test': 'predicted'}, 'No class')), h('p', {'data-test': 'warning'}, `${warning}.`)];
  }
  return [h('p', {class: 'answer'}, h('b', {'data-test': 'predicted'}, predicted), h('span', {class: 'muted'}, ` ${percent(probability)} sure`)),
    bars(classes.map(({name, probability: share}) => ({name, share})), {most: 8, label: 'Probabilities of the classes'})];
}

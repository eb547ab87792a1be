import {h} from '../dom.js';

/** A name of the service, which may break behind its own joints and nowhere else. */
export function breakable(name) {
  return String(name).split(/(?<=[+_./])/).flatMap((piece, i) => (i === 0 ? [piece] : [h('wbr'), piece]));
}

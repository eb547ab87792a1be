/**
 * Around a box that scrolls sideways: an edge with a shadow and an arrow wherever something is out of sight, and the
 * same in words below it.
 */

import {h, set} from '../dom.js';

const SLACK = 2; // pixels that nobody would miss

/**
 * @param {HTMLElement} box scrolls, and takes the focus, so that the arrow keys scroll it
 * @returns {HTMLElement} holds the box
 */
export function sideways(box) {
  const words = h('p', {class: 'muted small', hidden: true, 'data-test': 'more-columns'}, 'Columns go on to the right: scroll sideways, or with the arrow keys.');
  const frame = h('div', {class: 'sideways'}, box);
  const look = () => {
    const beyond = box.scrollWidth - box.clientWidth;
    frame.classList.toggle('more-left', box.scrollLeft > SLACK);
    frame.classList.toggle('more-right', box.scrollLeft < beyond - SLACK);
    set(frame, {style: {'--bar': `${box.offsetWidth - box.clientWidth}px`}});
    words.hidden = beyond <= SLACK;
  };
  const observer = new ResizeObserver(look);
  observer.observe(box);
  const watchContent = () => [...box.children].forEach((child) => observer.observe(child));
  new MutationObserver(watchContent).observe(box, {childList: true});
  watchContent();
  box.addEventListener('scroll', look, {passive: true});
  return h('div', {class: 'stack'}, frame, words);
}

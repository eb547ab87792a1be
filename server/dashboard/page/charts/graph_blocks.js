/**
 * Blocks of layers by their names: "layer1.0.conv1" and "layer1.0.relu" are of the block "layer1.0".
 * A block is a run of neighbours in the description, so folding it can make no circle.
 */

const SMALLEST = 3;
const LARGEST_SHARE = 0.5;

/** The name itself counts: "features.3" may be what joins the branches of its block. */
function prefixesOf(name) {
  const words = name.split('.');
  return words.map((_, i) => words.slice(0, i + 1).join('.'));
}

/** {first, last, count} of every prefix. */
function spans(layers) {
  const found = new Map();
  layers.forEach(({name}, i) => {
    for (const prefix of prefixesOf(name)) {
      const span = found.get(prefix) ?? {first: i, last: i, count: 0};
      span.last = i;
      span.count++;
      found.set(prefix, span);
    }
  });
  return found;
}

/**
 * @param {{name: string}[]} layers in the order of the description
 * @returns {{name: string, first: number, last: number}[]} blocks that do not overlap, in order
 */
export function blocksOf(layers) {
  const found = spans(layers);
  const isBlock = ({first, last, count}) => count >= SMALLEST && count === last - first + 1
    && count <= layers.length * LARGEST_SHARE;
  const blocks = [];
  layers.forEach(({name}, i) => {
    if (blocks.length && i <= blocks.at(-1).last) {
      return;
    }
    const prefix = prefixesOf(name).find((candidate) => isBlock(found.get(candidate)));
    if (prefix) {
      blocks.push({name: prefix, first: i, last: found.get(prefix).last});
    }
  });
  return blocks;
}

function blockNode(block, layers, idOf) {
  const members = layers.slice(block.first, block.last + 1);
  const inside = new Set(members.map((_, k) => `layer ${block.first + k}`));
  const inputs = members.flatMap((layer) => layer.inputs.map(idOf)).filter((id) => id && !inside.has(id));
  return {id: `block ${block.name}`, block, members, layer: members.at(-1), inputs};
}

/**
 * The nodes to draw: layers, and one node for each block that is folded.
 * @param {Object[]} layers of a report, each with `name` and `inputs`
 * @param {Object[]} blocks
 * @param {Set<string>} open names of the blocks that are not folded
 * @returns {{id: string, layer: Object, block: ?Object, members: ?Object[], inputs: string[]}[]}
 */
export function fold(layers, blocks, open) {
  const byName = new Map(layers.map(({name}, i) => [name, i]));
  const folded = new Map();
  for (const block of blocks.filter(({name}) => !open.has(name))) {
    for (let i = block.first; i <= block.last; i++) {
      folded.set(i, block);
    }
  }
  const idOfIndex = (i) => (folded.has(i) ? `block ${folded.get(i).name}` : `layer ${i}`);
  const idOf = (name) => (byName.has(name) ? idOfIndex(byName.get(name)) : null);
  const nodes = layers.flatMap((layer, i) => {
    const block = folded.get(i);
    if (block) {
      return i === block.first ? [blockNode(block, layers, idOf)] : [];
    }
    return [{id: `layer ${i}`, layer, block: null, members: null, inputs: layer.inputs.map(idOf).filter(Boolean)}];
  });
  return nodes.map((node) => ({...node, inputs: [...new Set(node.inputs)]}));
}

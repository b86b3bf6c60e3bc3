/** As `engines` of package.json. */
export const OLDEST_NODE = 24

/** Whether all commands run on the Node that runs this one. */
export function isNodeNewEnough() {
  return Number(process.versions.node.split('.')[0]) >= OLDEST_NODE
}

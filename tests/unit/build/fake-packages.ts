/** An installed package of CommonJS, unless its manifest says more. */
export function packFiles(
  name: string,
  manifest: object,
  files: Readonly<Record<string, string>>,
): Record<string, string> {
  const all = { 'package.json': JSON.stringify({ name, ...manifest }), ...files }
  return Object.fromEntries(Object.entries(all).map(([file, text]) => [`node_modules/${name}/${file}`, text]))
}

/** Names that Node does not find in the text of a CommonJS module, and files that are named without their endings. */
export const LOOSE = packFiles(
  'loose',
  { main: 'index.js' },
  {
    'index.js': `const names = { start: () => 'started' }; module.exports = Object.assign({}, names)`,
    'deep.js': `module.exports = () => 'deep'`,
    'plugin/index.js': `exports.__esModule = true; exports.default = 'plugin'; exports.named = 'named'`,
  },
)

/** Stylesheets that need a tool: which one is used, and what is said where it is missing or finds a fault. */
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { build, type BuildFailure, type OnLoadArgs, type OnLoadResult, type Plugin } from 'esbuild'
import { expect, test } from 'vitest'
import { withStyleTools } from '../../../scripts/build/assets/style-tools.ts'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'

const POSTCSS = resolve(import.meta.dirname, '../../../node_modules/postcss')

/** A plugin as it is published today: an ES module alone. It counts what it has processed. */
const PAINT = {
  'node_modules/postcss-paint/package.json':
    '{ "name": "postcss-paint", "type": "module", "exports": { "import": "./index.js" } }',
  'node_modules/postcss-paint/index.js': `const paint = ({ colour = 'teal' } = {}) => ({
  postcssPlugin: 'postcss-paint',
  Declaration(node, { result }) {
    if (node.value === 'MUD') throw node.error('MUD is no colour')
    if (node.value === 'FOG') node.warn(result, 'FOG is hard to see')
    if (node.value === 'WATER') node.value = colour
  },
})
paint.postcss = true
export default paint
`,
}

/** As the real one, as far as it is used: \`@use\` puts a partial in its place. */
const SASS = {
  'node_modules/sass/package.json': '{ "name": "sass", "main": "index.cjs" }',
  'node_modules/sass/index.cjs': `const { readFileSync } = require('node:fs')
const { dirname, join } = require('node:path')
const { pathToFileURL } = require('node:url')
let runs = 0
exports.NodePackageImporter = class {}
exports.compileAsync = async (file) => {
  const partial = join(dirname(file), '_theme.scss')
  const theme = readFileSync(partial, 'utf8')
  if (theme.includes('NONE')) {
    const span = { url: pathToFileURL(partial), start: { line: 2, column: 3 }, context: theme }
    throw Object.assign(new Error('long'), { sassMessage: 'Undefined variable.', span })
  }
  const css = readFileSync(file, 'utf8').replace("@use 'theme';", theme) + '/* run ' + ++runs + ' */'
  return { css, loadedUrls: [pathToFileURL(file), pathToFileURL(partial)] }
}
`,
}

async function makeProject(files: Readonly<Record<string, string>>): Promise<TempDir> {
  const folder = await makeTempDir('styles')
  await change(folder, { 'package.json': '{ "type": "module" }', ...files })
  await mkdir(join(folder.path, 'node_modules'), { recursive: true })
  await symlink(POSTCSS, join(folder.path, 'node_modules/postcss'))
  return folder
}

async function change({ path }: TempDir, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(path, name)), { recursive: true })
    await writeFile(join(path, name), text)
  }
}

function pluginOf(root: string): Plugin {
  const [plugin] = withStyleTools(root, {}).plugins?.browser ?? []
  return plugin as unknown as Plugin
}

async function bundle({ path: root }: TempDir, entry: string, plugin = pluginOf(root)) {
  const { outputFiles, warnings } = await build({
    absWorkingDir: root,
    entryPoints: [join(root, entry)],
    bundle: true,
    write: false,
    minify: true,
    logLevel: 'silent',
    plugins: [plugin],
  })
  return { css: outputFiles[0]?.text.trim() ?? '', warnings }
}

/** The text and the place of the fault that stops a bundle. */
async function faultOf(folder: TempDir, entry: string): Promise<string> {
  const failure = await bundle(folder, entry).then(
    () => undefined,
    (error: BuildFailure) => error.errors[0],
  )
  const { file = '', line = 0, column = 0 } = failure?.location ?? {}
  return `${failure?.text ?? 'none'} [${file}:${line}:${column}]`
}

const CONFIGS: Readonly<Record<string, string>> = {
  'postcss.config.mjs': `export default { plugins: { 'postcss-paint': {} } }`,
  'postcss.config.js': `export default { plugins: ['postcss-paint'] }`,
  'postcss.config.cjs': `module.exports = { plugins: { 'postcss-paint': { colour: 'teal' }, none: false } }`,
  'postcss.config.ts': `const config: { plugins: unknown[] } = { plugins: [['postcss-paint', { colour: 'teal' }]] }\nexport default config`,
  'postcss.config.mts': `import paint from 'postcss-paint'\nexport default { plugins: [paint({ colour: 'teal' }), false] }`,
  '.postcssrc.mjs': `import paint from 'postcss-paint'\nexport default async ({ env, cwd }) => ({ plugins: [env && cwd && paint] })`,
  '.postcssrc': `{ "plugins": { "postcss-paint": {} } }`,
  '.postcssrc.json': `{ "plugins": { "postcss-paint": { "colour": "teal" } } }`,
  'package.json': `{ "type": "module", "postcss": { "plugins": { "postcss-paint": {} } } }`,
}

test.for(Object.keys(CONFIGS))('PostCSS runs by %s', async (name) => {
  await using folder = await makeProject({ ...PAINT, [name]: CONFIGS[name] ?? '', 'src/a.css': 'a { color: WATER }' })
  expect((await bundle(folder, 'src/a.css')).css).toBe('a{color:teal}')
})

test('the config of a repository is that of its packages', async () => {
  await using folder = await makeProject({
    ...PAINT,
    '.git/HEAD': '',
    'postcss.config.mjs': CONFIGS['postcss.config.mjs'] ?? '',
    'apps/web/package.json': '{}',
    'apps/web/src/a.css': 'a { color: WATER }',
  })
  expect((await bundle(folder, 'apps/web/src/a.css', pluginOf(join(folder.path, 'apps/web')))).css).toBe(
    'a{color:teal}',
  )
})

test('Sass runs where it is installed, then PostCSS', async () => {
  await using folder = await makeProject({
    ...PAINT,
    ...SASS,
    'postcss.config.mjs': CONFIGS['postcss.config.mjs'] ?? '',
    'src/a.scss': `@use 'theme';\nb { color: WATER }`,
    'src/_theme.scss': 'a { color: WATER }',
  })
  expect((await bundle(folder, 'src/a.scss')).css).toBe('a,b{color:teal}')
})

test('a stylesheet is made again when a file that it was made from is saved, and only then', async () => {
  await using folder = await makeProject({
    ...SASS,
    'src/a.scss': `@use 'theme';`,
    'src/_theme.scss': 'a { top: 1px }',
  })
  const run = loadOf(pluginOf(folder.path), join(folder.path, 'src/a.scss'))
  expect((await run()).contents).toContain('top: 1px }/* run 1 */')
  expect((await run()).contents).toContain('/* run 1 */')
  await change(folder, { 'src/_theme.scss': 'a { top: 2px }' })
  expect(await run()).toMatchObject({
    contents: expect.stringContaining('top: 2px }/* run 2 */'),
    watchFiles: [join(folder.path, 'src/a.scss'), join(folder.path, 'src/_theme.scss')],
  })
})

function loadOf(plugin: Plugin, path: string): () => Promise<OnLoadResult> {
  const loads: ((args: OnLoadArgs) => unknown)[] = []
  void plugin.setup({
    onLoad: (_options: unknown, load: (args: OnLoadArgs) => unknown) => void loads.push(load),
  } as never)
  return async () => (await loads[0]?.({ path } as OnLoadArgs)) as OnLoadResult
}

const MJS = { 'postcss.config.mjs': CONFIGS['postcss.config.mjs'] ?? '' }
const FAULTS: readonly (readonly [
  title: string,
  files: Readonly<Record<string, string>>,
  entry: string,
  told: RegExp,
])[] = [
  [
    'a Sass file without Sass',
    { 'src/a.scss': '' },
    'src/a.scss',
    /^src\/a\.scss needs sass, which is not installed\. Install it: npm install --save-dev sass \[src\/a\.scss:1:0\]$/,
  ],
  [
    'a fault in a partial',
    { ...SASS, 'src/a.scss': '', 'src/_theme.scss': 'NONE' },
    'src/a.scss',
    /^Undefined variable\. \[src\/_theme\.scss:3:3\]$/,
  ],
  [
    'a plugin of PostCSS that is not installed',
    { ...MJS, 'src/a.css': '' },
    'src/a.css',
    /^postcss\.config\.mjs needs postcss-paint, which is not installed\. Install it: npm install --save-dev postcss-paint \[/,
  ],
  [
    'a config without plugins to load',
    { 'postcss.config.mjs': 'export const plugins = []', 'src/a.css': '' },
    'src/a.css',
    /^none/,
  ],
  [
    'a config that Node cannot run',
    { 'postcss.config.js': 'throw new Error("not today")', 'src/a.css': '' },
    'src/a.css',
    /^postcss\.config\.js could not be loaded: not today/,
  ],
  [
    'CSS that cannot be read',
    { ...PAINT, ...MJS, 'src/a.css': 'a {\n  margin 0;\n}' },
    'src/a.css',
    /^Unknown word margin \[src\/a\.css:2:2\]$/,
  ],
  [
    'a fault that a plugin finds',
    { ...PAINT, ...MJS, 'src/a.css': 'a { color: MUD }' },
    'src/a.css',
    /^MUD is no colour \(postcss-paint\) \[src\/a\.css:1:4\]$/,
  ],
  [
    'a language that needs a plugin',
    { 'src/a.less': '' },
    'src/a.less',
    /^src\/a\.less is Less, which needs a plugin of esbuild: plugins\.browser of millrace\.config\.ts/,
  ],
  [
    'a stylesheet for PostCSS without a config',
    { 'src/a.pcss': '' },
    'src/a.pcss',
    /^src\/a\.pcss is for PostCSS, which has no config: write postcss\.config\.mjs/,
  ],
]

test.for(FAULTS)('%s is named with its place', async ([, files, entry, told]) => {
  await using folder = await makeProject(files)
  expect(await faultOf(folder, entry)).toMatch(told)
})

test('a warning of a plugin has its place', async () => {
  await using folder = await makeProject({ ...PAINT, ...MJS, 'src/a.css': 'a {}\nb { color: FOG }' })
  expect((await bundle(folder, 'src/a.css')).warnings).toMatchObject([
    { text: 'FOG is hard to see (postcss-paint)', location: { file: 'src/a.css', line: 2, column: 4 } },
  ])
})

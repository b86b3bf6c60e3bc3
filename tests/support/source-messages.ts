import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isNode, nameOf, nodesOf, parseModule, type SyntaxNode } from '../../scripts/build/project/syntax-tree.ts'

const ROOT = join(import.meta.dirname, '../..')

/** A text that developers or operators may read. */
export interface SourceMessage {
  /** The source that has it, from the project's folder. */
  readonly file: string
  /** As it is written, with `…` in the place of values. */
  readonly text: string
}

const SOURCES = '{bin,scripts/{build,command,dev},src/{client,server,shared,testing}}/**/*.{js,ts,tsx}'

/** What only developers of Millrace, or visitors, ever read. */
const NOT_FOR_READERS =
  /^(?:bin\/help|src\/(?:shared\/(?:handbook|protocol)|client\/inspect|server\/reports\/(?:inbox|spool|delivery\/\w*upstream|delivery\/\w*delivery-lease|intake|relay)))|server-copies|react-module|required-package|asset-manifest|attached-context|page-transport|send-upload|normalize-thrown|in-order|action-references|host-request|prerender-shell|send-kept|store-values|own-getters/

/** Modules whose texts are all parts of messages: the calls that make errors of them are elsewhere. */
const FAULT_TEXTS =
  /-faults?\.ts$|action-exports|inspect-actions|table-modules|table-drift|check-evaluation|postcss-config|rewrite-references|build-styles|file-urls|server-wall|public-env|load-config|esbuild-messages|dead-links|server-packages|dev-listening|installed-tool|project-package|judge-request|request-target|late-changes|rule-shape|conditions|destination|destination-host|rule-source|segment-without|dev-reports|loader-waterfall|page-checks|waits|settings-wait|watch-sources|opening-fault|opens-|router-errors|href\.ts|redis-memory|shares\.ts|site-folder|export-error|open-editor|inspection-process|admission\/admission\.ts/

/** Functions that throw what they are given, or put it in front of a developer. */
const TELLERS = new Set([
  'refuse',
  'refusal',
  'fail',
  'fault',
  'complain',
  'warn',
  'error',
  'fatal',
  'noteLateChange',
  'warnOnce',
])

const LEAST_WORDS = 3 // fewer are the name of a part
const LEAST_LOG_WORDS = 2

/** All messages of the sources, in the order of the files. */
export function sourceMessages(): readonly SourceMessage[] {
  const files = globSync(SOURCES, { cwd: ROOT }).map((file) => file.replaceAll('\\', '/'))
  return files.toSorted().flatMap((file) => {
    if (NOT_FOR_READERS.test(file)) return []
    const tree = parseModule(file, readFileSync(join(ROOT, file), 'utf8'))
    if (tree === undefined) throw new Error(`${file} cannot be parsed`)
    const texts = FAULT_TEXTS.test(file)
      ? textsOf(tree, LEAST_WORDS)
      : [...nodesOf(tree)].flatMap(toldBy(constants(tree)))
    return [...new Set(texts)].filter(isProse).map((text) => ({ file, text }))
  })
}

/** All sources as one text, with `…` in the place of values, and without what joins the lines of a message. */
export function sourceText(): string {
  return globSync(SOURCES, { cwd: ROOT })
    .map((file) => readFileSync(join(ROOT, file), 'utf8'))
    .join('\n')
    .replaceAll(/\$\{[^}]*\}/g, '…')
    .replaceAll(/['`],? ?\+?\s*['`]/g, ' ')
}

/** What constants of a module are, by their names. */
function constants(tree: SyntaxNode): ReadonlyMap<string, unknown> {
  return new Map(
    [...nodesOf(tree)].flatMap((node) => {
      const name = node.type === 'VariableDeclarator' ? nameOf(node['id']) : undefined
      return name === undefined ? [] : [[name, node['init']] as const]
    }),
  )
}

/** Gives the texts that a call or an assignment tells somebody. */
function toldBy(known: ReadonlyMap<string, unknown>): (node: SyntaxNode) => readonly string[] {
  return (node) => {
    const callee = isNode(node['callee']) ? node['callee'] : undefined
    const name = nameOf(callee) ?? nameOf(callee?.['property']) ?? ''
    const args = Array.isArray(node['arguments'])
      ? (node['arguments'] as readonly unknown[]).map((argument) => known.get(nameOf(argument) ?? '') ?? argument)
      : undefined
    if (node.type === 'AssignmentExpression' && isNode(node['left']) && nameOf(node['left']['property']) === 'refused')
      return textsOf(node['right'], LEAST_LOG_WORDS)
    if (node.type === 'Property' && nameOf(node['key']) === 'reason') return textsOf(node['value'], LEAST_LOG_WORDS)
    if (node.type === 'NewExpression' && /(?:Error|Fault)$/.test(name)) return textsOf(args, LEAST_WORDS)
    if (node.type !== 'CallExpression') return []
    if (callee?.type === 'Super') return textsOf(args, LEAST_WORDS)
    return TELLERS.has(name) ? textsOf(args, LEAST_LOG_WORDS) : []
  }
}

/** The texts inside of nodes, each with at least so many words. */
function textsOf(within: unknown, least: number): string[] {
  if (Array.isArray(within)) return within.flatMap((node) => textsOf(node, least))
  if (!isNode(within)) return []
  const text = textOf(within)
  if (text !== undefined && wordsIn(text) >= least) return [text]
  return Object.values(within).flatMap((member) => textsOf(member, least))
}

/** A literal, a template, or a sum of them. */
function textOf(node: SyntaxNode): string | undefined {
  if (node.type === 'Literal') return typeof node['value'] === 'string' ? node['value'] : undefined
  if (node.type === 'TemplateLiteral') {
    return (node['quasis'] as readonly { readonly value: { readonly cooked: string } }[])
      .map(({ value }) => value.cooked)
      .join('…')
  }
  if (node.type !== 'BinaryExpression' || node['operator'] !== '+') return undefined
  const [left, right] = [node['left'], node['right']].map((side) => (isNode(side) ? textOf(side) : undefined))
  return left === undefined && right === undefined ? undefined : (left ?? '…') + (right ?? '…')
}

function wordsIn(text: string): number {
  return text.split(/\s+/).filter((word) => /[a-z]{2}/i.test(word)).length
}

function isProse(text: string): boolean {
  return !/^\s*(?:<|import |export |SELECT|INSERT|DELETE|CREATE|UPDATE|PRAGMA)|^[A-Z, ]+$|=>\s*\{\\n/.test(text)
}

/** The code samples of the handbook as modules that a compiler can judge. */
import { existsSync } from 'node:fs'
import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { runCommand } from '../../../scripts/checks/run-command.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

const ROOT = join(import.meta.dirname, '../../..')
const WORLD = join(ROOT, 'tests/fixtures/handbook/world.ts')

/** A file of the handbook. */
export interface Chapter {
  /** Below the folder that the samples are written to. */
  readonly name: string
  readonly text: string
}

/** A fenced block. */
interface Block {
  /** `ts`, `bash` and the like, with all that follows it in the fence but marks of lines; empty where the fence says none. */
  readonly language: string
  /** Of the opening fence, from 1. */
  readonly line: number
  /** Without the indentation of its fence. */
  readonly code: string
}

/** All fenced blocks of a chapter, of whatever language. */
export function fencedBlocks(text: string): Block[] {
  const blocks: Block[] = []
  let open: { fence: string; indent: number; language: string; line: number; code: string[] } | undefined
  for (const [index, line] of text.split('\n').entries()) {
    const [, indent = '', fence, language = ''] = /^(\s*)(`{3,}|~{3,})\s*(.*?)\s*(?:\{[\d,-]+\})?$/.exec(line) ?? []
    if (open === undefined) {
      if (fence !== undefined) open = { fence, indent: indent.length, language, line: index + 1, code: [] }
    } else if (line.trim() === open.fence) {
      blocks.push({ language: open.language, line: open.line, code: open.code.join('\n') })
      open = undefined
    } else {
      open.code.push(line.slice(open.indent))
    }
  }
  if (open !== undefined) throw new Error(`The block that line ${open.line} opens has no end`)
  return blocks
}

/** What a sample of server code without any import leaves to the reader. */
const LEFT_OUT = [
  `import { action, defineApp, notFound, redirect, type LoaderArgs, type RuleSet, type VisitorArgs } from 'millrace/server'`,
  `import { defineRoutes } from 'millrace'`,
  `import { z } from 'zod'`,
  `import request from 'supertest'`,
].join('; ')

/** How a sample is told by its look, where it stands unless its first line says so, and what is put around it. */
interface Form {
  readonly look: RegExp
  readonly path?: string
  readonly before?: string
  /** `self` is the sample's own module. */
  readonly after?: string
}

// Members and elements of a module that is printed as a whole are indented, so one that begins a line is a fragment.
const FORMS: readonly Form[] = [
  { look: /^'\//m, path: 'src/app/routes.ts', before: 'export const routes = defineRoutes({ ', after: '})' },
  {
    look: /^(?:redirects|rewrites|headers): /m,
    path: 'src/app/rules.ts',
    before: 'export const rules: RuleSet = { ',
    after: '}',
  },
  { look: /^\{$/m, path: 'src/app/rules.ts', before: `export const rules: RuleSet['redirects'] = [`, after: ']' },
  { look: /^async handler\(/m, before: 'export const save = action({ input: millSchema, ', after: '})' },
  { look: /^</m, before: 'export const element = ' },
  {
    look: /(?<!^import { Document }[^]*)^export default defineApp\(/m,
    path: 'src/app/app.ts',
    before: `import { Document } from './document.tsx'; import { routes } from './routes.ts'; `,
  },
  { look: /= defineRoutes\(/, path: 'src/app/routes.ts' },
  {
    look: /^export (?:async function|const) loader\b/m,
    path: 'src/app/mills/loader.server.ts',
    after: 'isServerModule(self)',
  },
  { look: /^export const metadata\b/m, after: 'isMetadata(self.metadata)' },
  { look: /from '\.\.\/src\//, path: 'tests/sample.test.ts' },
]

/** A sample as a module. */
interface Sample {
  readonly line: number
  /** Where it would stand in the project. */
  readonly path: string
  /** Line by line what the chapter has, so that the compiler's lines are the chapter's. */
  readonly code: string
}

function asModule({ language, line, code }: Block): Sample {
  const {
    look,
    path = `src/app/mills/sample.${language}`,
    before = '',
    after = '',
  } = FORMS.find(({ look }) => look.test(code)) ?? {}
  const [, stated] = /^\/\/ (src\/\S+)\n/.exec(code) ?? []
  const leftOut = language === 'ts' && !/^import /m.test(code) ? `${LEFT_OUT}; ` : ''
  // A … that stands alone is left-out code; in a text it is a text.
  const whole = code.replace(/(?<=\{ )…(?= \})|(?<=^\s*)…$/gm, '')
  const wrapped = look === undefined ? whole : whole.replace(look, (start) => before + start)
  return { line, path: stated ?? path, code: `${leftOut}${wrapped}\n${after}` }
}

/**
 * Type-checks every sample in `ts` and `tsx`, all of them in one run, as a part of `src/app`.
 * @returns the compiler's messages: `docs/loaders.md:34: error TS2339: …`.
 */
export async function sampleFaults(chapters: readonly Chapter[]): Promise<string[]> {
  await using temp = await makeTempDir('handbook')
  const folder = await realpath(temp.path)
  for (const name of ['package.json', 'node_modules', 'scripts', 'src'])
    await symlink(join(ROOT, name), join(folder, name))
  const files: string[] = []
  for (const { name, text } of chapters) {
    const samples = fencedBlocks(text)
      .filter(({ language }) => language === 'ts' || language === 'tsx')
      .map(asModule)
    const fileOf = ({ line, path }: Sample): string => join(folder, name, String(line), path)
    for (const sample of samples) {
      // A neighbour is the last one of that name before the sample, else the first behind it, else the application's.
      const code = sample.code.replace(/(?<=\b(?:from |import\())'(\.[^']*)'/g, (specifier, to: string) => {
        const path = join(dirname(sample.path), to)
        const named = samples.filter((other) => other.path === path && other !== sample)
        const neighbour = named.findLast(({ line }) => line < sample.line) ?? named[0]
        if (neighbour !== undefined) return `'${fileOf(neighbour)}'`
        return existsSync(join(ROOT, path)) ? `'${join(ROOT, path)}'` : specifier
      })
      const file = fileOf(sample)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, `${code}; import * as self from './${basename(file)}'\n`)
      files.push(file)
    }
  }
  const ambient = [WORLD, join(ROOT, 'types.d.ts'), join(ROOT, 'src/server/reports/delivery/undici-pool.d.ts')]
  const config = {
    extends: join(ROOT, 'src/app/tsconfig.json'),
    // Else a member of an object whose form is not known here would pass as a statement with a label.
    compilerOptions: { allowUnusedLabels: false },
    include: [],
    files: [...ambient, ...files],
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const { code, output } = await runCommand('tsc', ['-p', folder, '--pretty', 'false'], {
    cwd: folder,
    output: 'collect',
  })
  const faults = output.trimEnd().replaceAll(/\n\s+/g, ' ').split('\n').filter(Boolean)
  if (code !== 0 && faults.length === 0) throw new Error(`tsc ended with ${code} and said nothing`)
  return faults.map((fault) =>
    fault
      .replace(/^\.\..*?(?=\()/, (path) => relative(ROOT, join(folder, path)))
      .replace(
        /^(.*?\.md)\/(\d+)\/.*?\((\d+),\d+\)/,
        (_, name: string, fence: string, line: string) => `${name}:${Number(fence) + Number(line)}`,
      ),
  )
}

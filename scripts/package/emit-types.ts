import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'
import { runCommand } from '../checks/run-command.ts'
import { OPTIONAL_TYPES } from './package-parts.ts'

/** Declarations of generated modules, and for packages without types; the entries' declarations need none of them. */
const AMBIENT = [
  'src/server/routes/application.d.ts',
  'src/server/reports/delivery/undici-pool.d.ts',
  'src/client/dev/react-refresh.d.ts',
]

/**
 * Creates the declarations of the package's entries, and of all modules that they import.
 * @param root the project's folder.
 * @param entries sources of the entries, relative to the project's folder.
 * @returns contents by path in `lib`.
 * @throws {Error} with the compiler's messages.
 */
export async function emitTypes(root: string, entries: readonly string[]): Promise<ReadonlyMap<string, string>> {
  await using temp = await mkdtempDisposable(join(root, 'node_modules/.cache-types-'))
  const config = {
    extends: join(root, 'tsconfig.base.json'),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      rootDir: root,
      outDir: temp.path,
      lib: ['ES2024', 'DOM', 'DOM.Iterable'],
      types: ['node', 'react', 'react-dom'],
    },
    files: [...AMBIENT, ...entries].map((file) => join(root, file)),
  }
  await writeFile(join(temp.path, 'tsconfig.json'), JSON.stringify(config))
  const { code, output } = await runCommand('tsc', ['-p', temp.path, '--pretty', 'false'], {
    cwd: root,
    output: 'collect',
  })
  if (code !== 0) throw new Error(`The declarations cannot be made.\n${output}`)
  const files = new Map<string, string>()
  const waiting = entries.map(declarationOf)
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (files.has(path)) continue
    const text = await readFile(join(temp.path, path), 'utf8')
    const compiled = text.replace(RELATIVE, (_, before: string, file: string) => {
      waiting.push(declarationOf(posix.join(dirname(path), file)))
      return `${before}${file.replace(/\.tsx?$/, '.js')}`
    })
    files.set(
      path,
      compiled.replace(OPTIONAL, (statement) => `// @ts-ignore: ${OPTIONAL_NOTE}\n${statement}`),
    )
  }
  return files
}

// Not in comments, which show imports of an application.
const RELATIVE = /(?<=^(?![ \t]*\*).*)(\b(?:from |import\()["'])(\.[^"']+\.tsx?)(?=["'])/gm

const OPTIONAL = new RegExp(`^(?:import|export) [^;]*? from ["'](?:${OPTIONAL_TYPES.join('|')})["'];?$`, 'gm')
const OPTIONAL_NOTE = 'these types may not be installed; what uses them is then unchecked.'

function declarationOf(source: string): string {
  return source.replace(/\.tsx?$/, '.d.ts')
}

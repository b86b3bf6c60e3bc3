import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeOutsideFolder, packedArchive, type OutsideFolder } from '../support/installed-application.ts'

const state = { folder: undefined as OutsideFolder | undefined, archive: '' }

/** Options that make Node seem too old. */
const OLD_NODE = [
  '--import',
  `data:text/javascript,Object.defineProperty(process.versions, 'node', { value: '20.19.0' })`,
] as const

beforeAll(async () => {
  state.folder = await makeOutsideFolder()
  state.archive = await packedArchive(state.folder)
  await state.folder.run(['tar', 'xzf', state.archive])
})

afterAll(async () => {
  await state.folder?.[Symbol.asyncDispose]()
})

function millrace(options: readonly string[], ...args: readonly string[]) {
  if (state.folder === undefined) throw new Error('There is no folder.')
  return state.folder.run([process.execPath, ...options, join(state.folder.path, 'package/bin/millrace.js'), ...args])
}

/** Makes an application. @returns its development dependencies, and the Node that its version file asks for. */
async function made(name: string, options: readonly string[], ...args: readonly string[]) {
  const { code, errors } = await millrace(options, 'new', name, '--no-install', '--package', state.archive, ...args)
  expect([code, errors]).toEqual([0, ''])
  const read = (file: string) => readFile(join(state.folder?.path ?? '', name, file), 'utf8')
  const { devDependencies, engines } = JSON.parse(await read('package.json'))
  return { devDependencies, engines, asked: (await read('.nvmrc')).trim() }
}

test.for([['application'], ['minimal', '--minimal']] as const)(
  'a new application brings a Node only where the one that makes it is too old: %s',
  async ([name, ...template]) => {
    const { devDependencies, engines, asked } = await made(name, [], ...template)
    expect(devDependencies).not.toHaveProperty('node')
    expect(engines).toEqual({ node: '>=24' })
    expect(asked).toMatch(/^\d+\.\d+\.\d+$/)
    const old = await made(`${name}-of-old`, OLD_NODE, ...template)
    expect(old).toMatchObject({ devDependencies: { ...devDependencies, node: asked }, asked })
  },
)

test('a command on a Node that is too old says so in one line, and how the project gets its own', async () => {
  const { code, errors } = await millrace(OLD_NODE, 'build')
  expect(code).toBe(1)
  expect(errors).toMatch(/^millrace build needs Node 24 or newer, and this is v.* npm install --save-dev node\n$/)
})

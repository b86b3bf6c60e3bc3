import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { actionId } from '../../../src/server/routes/actions/action-id.ts'
import { transformModule, type BrowserModule } from '../../../scripts/dev/compile/module-transform.ts'
import { copyProject, type FixtureProject } from './fixture-project.ts'

const KEY = 'src/app/module.tsx'

let project: FixtureProject

beforeAll(async () => {
  project = await copyProject()
})

afterAll(() => project.remove())

async function compile(text: string, key = KEY): Promise<BrowserModule> {
  await project.change({ [key]: text })
  const { root, app } = project.options
  const urlOf = (file: string): string => (file.includes('node_modules') ? '/vendor.js' : file.slice(root.length))
  return transformModule({ root, app, defines: { 'process.env.PUBLIC_X': '"x"' }, plugins: [], urlOf }, key)
}

describe('a module is refreshed in place', () => {
  test.for([
    ['a page', 'export default function Page() { return <p /> }'],
    ['several components', 'export function A() { return <p /> }\nexport const B = () => <p />'],
    ['a page with metadata', 'export const metadata = { title: "x" }\nexport default function Page() { return <p /> }'],
    ['a component in memo', `import { memo } from 'react'\nexport default memo(function Page() { return <p /> })`],
    ['a component of another name', 'function Inner() { return <p /> }\nexport { Inner as Outer }'],
  ])('when it exports %s', async ([, text = '']) => {
    expect((await compile(text)).refreshable).toBe(true)
  })
})

describe('a module takes its importers along', () => {
  test.for([
    ['a hook', `import { useState } from 'react'\nexport const useCount = () => useState(0)`],
    ['a value beside a component', 'export const limit = 3\nexport default function Page() { return <p /> }'],
    [
      'a context',
      `import { createContext } from 'react'\nexport const Theme = createContext('')\nexport function A() { return <p /> }`,
    ],
    ['nothing', 'function Page() { return <p /> }\nconsole.log(Page)'],
  ])('when it exports %s', async ([, text = '']) => {
    expect((await compile(text)).refreshable).toBe(false)
  })
})

test('types are gone, imports have URLs, public variables have values, and a server module is nothing', async () => {
  const { code } = await compile(`
    import { useState, type ReactNode } from 'react'
    import type { loader } from './home.server.ts'
    import { Card } from './card.tsx'
    export const table = { loader: () => import('./home.server.ts') }
    export function Page(props: { children: ReactNode; data: ReturnType<typeof loader> }) {
      useState(process.env.PUBLIC_X)
      return <Card title="">{props.children}</Card>
    }`)
  expect(code).toContain('import { Card } from "/src/app/card.tsx"')
  expect(code).toContain('import { useState } from "/vendor.js"')
  expect(code).toContain('useState("x")')
  expect(code).not.toContain('/src/app/home.server.ts"')
  expect(code).not.toContain('ReactNode')
})

test('a module with actions is its references, and pages import it by its own URL', async () => {
  // A folder that is a package by itself: what references need is the runtime's all the same.
  await project.change({ 'src/app/own/package.json': '{ "imports": {} }' })
  const { code, refreshable } = await compile(
    `import { action } from 'millrace/server'\nexport const sign = action({ handler: () => 'canary' })`,
    'src/app/own/actions.server.ts',
  )
  expect(code).toContain('import { actionReference } from "/src/client/actions/action-reference.ts"')
  expect(code).toContain(`actionReference("${actionId('own/actions.server.ts', 'sign')}")`)
  expect(code).not.toMatch(/canary|millrace\/server|src\/server/)
  expect(refreshable).toBe(false)
  const page = await compile(
    `import { sign } from './own/actions.server.ts'\nexport default () => <form action={sign} />`,
  )
  expect(page.code).toContain('import { sign } from "/src/app/own/actions.server.ts"')
})

test('a module of hooks alone declares the signatures that it calls', async () => {
  const { code } = await compile(`import { useState } from 'react'\nexport const useCount = () => useState(0)`)
  expect(code).toContain('= $RefreshSig$()')
  expect(code).toContain('$RefreshSig$=window.')
})

test('a source that does not compile is refused with the line', async () => {
  await expect(compile('export default <p')).rejects.toThrow(join(project.options.root, KEY))
})

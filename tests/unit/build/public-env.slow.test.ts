import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { buildApplication } from '../../../scripts/build/build-application.ts'
import { buildFault, copyProject, type FixtureProject } from './fixture-project.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const PAGE = 'src/app/lab/page.tsx'

function page(statements: string): Record<string, string> {
  return { [PAGE]: `\n${statements}\nexport default function LabPage() {\n  return <p>The lab</p>\n}\n` }
}

describe('browser code that reads another variable than PUBLIC_* stops the build', () => {
  test.for([
    ['process.env.SECRET', `console.log(process.env.SECRET)`],
    ['process.env.SECRET', `console.log(process.env['SECRET'])`],
    ['process.env.SECRET', `console.log(process.env?.SECRET)`],
    ['process.env.SECRET', `const { SECRET: secret = 1 } = process.env\nconsole.log(secret)`],
    ['import.meta.env.SECRET', `console.log(import.meta.env.SECRET)`],
    ['import.meta.env.MODE', `console.log(import.meta.env.MODE)`],
    ['process.env', `console.log(Object.keys(process.env))`],
  ] as const)('%s in: %s', async ([name, statement]) => {
    const fault = await buildFault(page(statement), { SECRET: 'canary-in-the-environment' })
    expect(fault).toContain(`Browser code reads ${name} in ${PAGE}.`)
    expect(fault).toContain(`${PAGE}:2:`)
    expect(fault).not.toContain('canary')
  })
})

describe('a build with public and secret variables', () => {
  let project: FixtureProject
  let texts: readonly string[]
  const env = { PUBLIC_TITLE: 'a "public" title', SECRET: 'canary-in-the-environment', PUBLIC: 'canary-too' }

  beforeAll(async () => {
    project = await copyProject(
      page(`
        // process.env.SECRET in a comment
        console.log('process.env.SECRET in a text', process.env.NODE_ENV, process.env.PUBLIC_UNSET)
        if (process.env.NODE_ENV !== 'production') console.log(process.env.SECRET)
        export type Env = typeof process.env`),
    )
    await buildApplication(project.options, env)
    const files = await project.list('dist')
    texts = await Promise.all(files.map((file) => project.read(`dist/${file}`)))
  })

  afterAll(() => project.remove())

  test('puts no secret into any output, whatever the sources mention', () => {
    expect(texts.filter((text) => /canary-(?:in-the-environment|too)/.test(text))).toEqual([])
  })

  test('puts public ones into the scripts of the browser and of the server alike', async () => {
    for (const folder of ['dist/public', 'dist/server']) {
      const home = (await project.list(folder)).find((file) => /^home-page-\w+\.js$/.test(file))
      expect(await project.read(`${folder}/${home}`)).toMatch(/title: ?['"`]a \\?"public\\?" title['"`]/)
    }
  })

  test('leaves no expression behind where a public variable is not set', async () => {
    const scripts = (await project.list('dist/public')).filter((file) => file.endsWith('.js'))
    const code = await Promise.all(scripts.map((file) => project.read(`dist/public/${file}`)))
    expect(code.join('')).not.toContain('PUBLIC_UNSET')
  })
})

import { untilAlive } from 'millrace/testing'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { browserTest as testInBrowser } from '../support/browser.ts'
import { startDevProject } from '../support/dev-project.ts'

/** Controls with and without state of React. */
const PAGE = `import { useState } from 'react'
export const metadata = { title: 'Desk' }
export default function DeskPage() {
  const [name, setName] = useState('')
  const [isUrgent, setUrgent] = useState(false)
  return (
    <form>
      <h1>First version</h1>
      <input name="name" aria-label="Name" value={name} onChange={(event) => setName(event.target.value)} />
      <input type="checkbox" name="urgent" aria-label="Urgent" checked={isUrgent} onChange={() => setUrgent(!isUrgent)} />
      <textarea name="text" aria-label="Text" />
      <select name="color" aria-label="Color"><option>Red</option><option>Green</option></select>
      <output>{name} {isUrgent && 'urgent'}</output>
    </form>
  )
}
`

const browserTest = testInBrowser.extend('project', async ({}, { onCleanup }) => {
  const project = await startDevProject('build-dev')
  onCleanup(project.close)
  await writeFile(join(project.root, 'src/app/counter-page.tsx'), PAGE)
  return project
})

async function fill(page: Page): Promise<void> {
  await page.getByLabel('Name').fill('Ada')
  await page.getByLabel('Urgent').check()
  await page.getByLabel('Text').fill('A long complaint')
  await page.getByLabel('Color').selectOption('Green')
}

async function expectFilled(page: Page): Promise<void> {
  await expect.poll(() => page.locator('output').textContent()).toBe('Ada urgent')
  await expect.poll(() => page.getByLabel('Text').inputValue()).toBe('A long complaint')
  expect(await page.getByLabel('Color').inputValue()).toBe('Green')
}

browserTest('what is typed stays when a save loads the document again', async ({ project, open }) => {
  const page = await open()
  await page.goto(project.dev.url)
  await untilAlive(page)
  const app = join(project.root, 'src/app')
  await fill(page)
  /** @param save must make the document load again. */
  const expectKept = async (save: () => Promise<void>): Promise<void> => {
    await page.evaluate(() => Object.assign(window, { isFormer: true }))
    await save()
    await page.waitForFunction(() => !('isFormer' in window))
    await untilAlive(page)
    await expectFilled(page)
  }
  await expectKept(() => project.replace('document.tsx', 'lang="en"', 'lang="en" data-version="2"'))
  await expectKept(() => project.replace('routes.ts', `'/late'`, `'/later'`))
  await expectKept(() =>
    writeFile(join(app, 'new.css'), 'body { color: green }').then(() =>
      project.replace('counter-page.tsx', 'import ', `import './new.css'\nimport `),
    ),
  )
  await expectKept(() => project.replace('app.ts', 'defineApp', 'defineApp /* again */'))
  await page.close() // before its server is gone
})

browserTest('what is typed stays when a page that fails comes between', async ({ project, open }) => {
  const page = await open({ allow: [/500/] })
  await page.goto(project.dev.url)
  await untilAlive(page)
  await fill(page)
  const fault = `throw new Error('no document')\n  return (`
  await page.evaluate(() => Object.assign(window, { isFormer: true }))
  await project.replace('document.tsx', 'return (', fault)
  await page.locator('body > pre').waitFor()
  await project.replace('document.tsx', fault, 'return (')
  await page.getByLabel('Name').waitFor()
  await expectFilled(page)
  await page.close() // before its server is gone
})

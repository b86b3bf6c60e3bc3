import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import type { OpenPage } from '../support/browser.ts'
import { moduleTest, serveModule, until } from '../support/module-page.ts'

const SCRIPT = `
import { loadDocument } from './src/client/core/page/document-load.ts'
import { createHistoryStack } from './src/client/core/navigation/history-stack.ts'
import { keepDrafts } from './src/client/core/page/draft-keeper.ts'
const stack = createHistoryStack(window, () => String(Math.random()))
stack.settle()
const typed = new WeakSet()
document.addEventListener('input', ({ target }) => typed.add(target), true)
const keeper = keepDrafts({
  window,
  storage: sessionStorage,
  name: 'millrace:drafts',
  pathname: () => window.pathname ?? location.pathname,
  key: () => stack.shown,
  entry: { owner: undefined, own: () => undefined },
  kind: '',
  marks: undefined,
  now: () => '',
  isOthers: () => false,
  typed,
})
Object.assign(window, {
  load: (href, how) => loadDocument(window, href, how, keeper),
  heard: [],
})
for (const type of ['input', 'change']) {
  document.addEventListener(type, ({ target }) => heard.push(type + ' ' + (target.name || target.id)))
}
`

const FORM = `
<form id="guestbook">
  <input name="name" value="from the server">
  <textarea name="message"></textarea>
  <input type="number" name="age">
  <input type="checkbox" name="agree">
  <input type="checkbox" name="mail" checked>
  <input type="radio" name="colour" value="red" checked><input type="radio" name="colour" value="blue">
  <select name="size"><option>S</option><option>M</option></select>
  <select name="tags" multiple><option>a</option><option selected>b</option><option>c</option></select>
</form>
<form name="search"><input name="name"></form>
<input id="alone">
<input name="again"><input name="again">
`

const SECRETS = `
<input type="password" name="password">
<input type="hidden" name="token">
<input name="shown-password" autocomplete="current-password">
<input name="new-password" autocomplete="section-a new-password">
<input name="card" autocomplete="billing cc-number">
<input name="code" autocomplete="one-time-code">
<input name="off" autocomplete="off">
<form autocomplete="off"><input name="inside-off"></form>
<input name="plain">
`

async function openForm(
  open: OpenPage,
  body = FORM,
  script = SCRIPT,
): Promise<{ page: Page; requests: readonly string[] }> {
  const { origin, requests } = await serveModule({ script, pages: { '*': body } })
  const page = await open()
  await page.goto(`${origin}/form`)
  await ready(page)
  return { page, requests }
}

/** The code for drafts is there, and has done what it does at the start. */
async function ready(page: Page): Promise<void> {
  await until(page, `window.load && document.readyState === 'complete'`)
  await page.evaluate('new Promise((done) => setTimeout(done))')
}

/** Has the page load a document, and waits for it. */
async function load(page: Page, href: string, how: 'assign' | 'replace' | 'reload'): Promise<void> {
  await Promise.all([page.waitForEvent('load'), page.evaluate(`void setTimeout(() => load('${href}', '${how}'))`)])
  await ready(page)
}

/** What every control holds, by name. */
function contents(page: Page): Promise<Record<string, unknown>> {
  return page.evaluate(`Object.fromEntries([...document.querySelectorAll('input,textarea,select')].map((control, index) => [
    index + ' ' + (control.name || control.id),
    control.options
      ? [...control.selectedOptions].map((option) => option.value).join()
      : /checkbox|radio/.test(control.type) ? control.checked : control.value,
  ]))`)
}

async function fill(page: Page): Promise<void> {
  await page.fill('[name=guestbook] [name=name], #guestbook [name=name]', 'Ada')
  await page.fill('textarea', 'two\nlines')
  await page.fill('[name=age]', '36')
  await page.check('[name=agree]')
  await page.uncheck('[name=mail]')
  await page.check('[value=blue]')
  await page.selectOption('[name=size]', 'M')
  await page.selectOption('[name=tags]', ['a', 'c'])
  await page.fill('[name=search] [name=name]', 'query')
  await page.fill('#alone', 'alone')
  await page.locator('[name=again]').nth(1).fill('second')
}

describe('what a visitor has typed', () => {
  moduleTest('is there again after the document was loaded anew, once', async ({ open }) => {
    const { page } = await openForm(open)
    const empty = await contents(page)
    await fill(page)
    const filled = await contents(page)
    expect(Object.keys(filled).filter((name) => filled[name] !== empty[name])).toHaveLength(12)
    await load(page, '', 'reload')
    expect(await contents(page)).toEqual(filled)
    await page.reload()
    await ready(page)
    expect(await contents(page)).toEqual(empty)
  })

  moduleTest('is told to the page as if it were typed again, and nothing else is', async ({ open }) => {
    const { page } = await openForm(open)
    await page.fill('#alone', 'alone')
    await page.check('[name=agree]')
    await page.selectOption('[name=size]', 'M')
    await load(page, '', 'reload')
    const heard = ['agree', 'size', 'alone'].flatMap((name) => [`input ${name}`, `change ${name}`])
    expect(await page.evaluate('heard')).toEqual(heard)
  })

  moduleTest('and taken back is nothing to be told', async ({ open }) => {
    const { page } = await openForm(open)
    await page.fill('#alone', 'alone')
    await page.fill('#alone', '')
    await load(page, '', 'reload')
    expect(await page.evaluate('heard')).toEqual([])
  })

  moduleTest('is nothing in a form that nobody has touched', async ({ open }) => {
    const { page } = await openForm(open)
    await page.evaluate(`addEventListener('pagehide', () => {
      sessionStorage.setItem('seen', String(sessionStorage.getItem('millrace:drafts')))
    })`)
    await load(page, '', 'reload')
    expect(await page.evaluate(`sessionStorage.getItem('seen')`)).toBe('null')
  })

  moduleTest('is dropped when another page comes', async ({ open }) => {
    const { page } = await openForm(open)
    const empty = await contents(page)
    await fill(page)
    await load(page, '/other', 'assign')
    expect(await contents(page)).toEqual(empty)
    await load(page, '/form', 'assign')
    expect(await contents(page)).toEqual(empty)
  })

  moduleTest('does not get into a page that the address bar has gone to already', async ({ open }) => {
    const { page } = await openForm(open)
    await fill(page)
    await page.evaluate(`window.pathname = '/form'; history.pushState(null, '', '/other')`)
    await load(page, '', 'reload')
    expect((await contents(page))['9 alone']).toBeUndefined()
    expect(await page.inputValue('#alone')).toBe('')
  })

  moduleTest('is not kept where it is secret, or where the page says so', async ({ open }) => {
    const { page } = await openForm(open, SECRETS)
    await page.evaluate(`for (const input of document.querySelectorAll('input')) {
      input.value = 'typed ' + input.name
      input.dispatchEvent(new Event('input', { bubbles: true }))
    }`)
    await page.evaluate(`addEventListener('pagehide', () => {
      sessionStorage.setItem('seen', sessionStorage.getItem('millrace:drafts'))
    })`)
    await load(page, '', 'reload')
    expect(await page.inputValue('[name=plain]')).toBe('typed plain')
    const kept = await page.evaluate(`sessionStorage.getItem('seen').match(/typed [\\w-]+/g)`)
    expect(kept).toEqual(['typed plain'])
    expect(await page.inputValue('[name=password]')).toBe('')
  })

  moduleTest('is kept up to a size, and short texts beside one that is too long', async ({ open }) => {
    const { page } = await openForm(open)
    await page.evaluate(`document.querySelector('textarea').value = 'x'.repeat(70_000)`)
    await page.fill('#alone', 'alone')
    await load(page, '', 'reload')
    expect(await page.inputValue('textarea')).toBe('')
    expect(await page.inputValue('#alone')).toBe('alone')
  })

  moduleTest.for(['{broken', 'null', '7', '["/form", 7]', '["/form", [7]]', '["/form", [["\\n\\n", {}]]]'])(
    'is not made of whatever else lies in the storage: %s',
    async (garbage, { open }) => {
      const { page } = await openForm(open)
      const empty = await contents(page)
      await page.evaluate(`sessionStorage.setItem('millrace:drafts', ${JSON.stringify(garbage)})`)
      await page.reload()
      await ready(page)
      expect(await contents(page)).toEqual(empty)
      expect(await page.evaluate('sessionStorage.length')).toBe(0)
    },
  )

  moduleTest('is lost to a storage that is full, and the document is loaded all the same', async ({ open }) => {
    const { page } = await openForm(open)
    await fill(page)
    await page.evaluate(`Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }`)
    await load(page, '', 'reload')
    expect(await page.inputValue('#alone')).toBe('')
  })
})

const REACT_FORM = `
import { useState } from 'react'
import { flushSync } from 'react-dom'
import { createRoot, hydrateRoot } from 'react-dom/client'
${SCRIPT}
function Form() {
  const [name, setName] = useState('')
  const [agree, setAgree] = useState(false)
  const [size, setSize] = useState('S')
  return (
    <>
      <input name="name" value={name} onChange={(event) => setName(event.target.value)} />
      <input type="checkbox" name="agree" checked={agree} onChange={(event) => setAgree(event.target.checked)} />
      <select name="size" value={size} onChange={(event) => setSize(event.target.value)}>
        <option>S</option>
        <option>M</option>
      </select>
      <output>{JSON.stringify({ name, agree, size })}</output>
    </>
  )
}
// The router comes when React has rendered.
`

const RENDERED = `${REACT_FORM}
flushSync(() => createRoot(document.getElementById('root')).render(<Form />))
`

// Firefox fills in what was typed before the reload, without an event, while the document comes in.
const HYDRATED = `${REACT_FORM}
if (performance.getEntriesByType('navigation')[0].type === 'reload') {
  document.querySelector('[name=name]').value = 'Ada'
  document.querySelector('[name=agree]').checked = true
  document.querySelector('[name=size]').value = 'M'
}
flushSync(() => hydrateRoot(document.getElementById('root'), <Form />))
`

const EMPTIED = RENDERED.replace("useState('')", "useState('from the server')").replace('{ name, agree, size }', 'name')

const SERVED =
  '<div id="root"><input name="name" value=""><input type="checkbox" name="agree">' +
  '<select name="size"><option selected>S</option><option>M</option></select>' +
  '<output>{&quot;name&quot;:&quot;&quot;,&quot;agree&quot;:false,&quot;size&quot;:&quot;S&quot;}</output></div>'

moduleTest.for([
  { how: 'by a script', body: '<div id="root"></div>', script: RENDERED },
  { how: 'by the browser already', body: SERVED, script: HYDRATED },
])('what a visitor has typed into controls of React is in its state again, put back $how', async (form, { open }) => {
  const { page } = await openForm(open, form.body, form.script)
  await page.fill('input', 'Ada')
  await page.check('[name=agree]')
  await page.selectOption('select', 'M')
  await load(page, '', 'reload')
  await expect.poll(() => page.textContent('output')).toBe('{"name":"Ada","agree":true,"size":"M"}')
  expect(await page.inputValue('input')).toBe('Ada')
  expect(await page.isChecked('[name=agree]')).toBe(true)
})

moduleTest('what a visitor has emptied of what React had filled in is empty in its state again', async ({ open }) => {
  const { page } = await openForm(open, '<div id="root"></div>', EMPTIED)
  await page.fill('input', '')
  await load(page, '', 'reload')
  await expect.poll(() => page.textContent('output')).toBe('""')
  expect(await page.inputValue('input')).toBe('')
})

describe('a document', () => {
  moduleTest('comes in addition to the page on screen, or in its place', async ({ open }) => {
    const { page } = await openForm(open)
    await load(page, '/second', 'assign')
    await load(page, '/third', 'replace')
    await page.goBack()
    expect(new URL(page.url()).pathname).toBe('/form')
  })

  moduleTest('is loaded also for a fragment of the page on screen', async ({ open }) => {
    const { page, requests } = await openForm(open)
    const documents = () => requests.filter((url) => url === '/form').length
    expect(documents()).toBe(1)
    await load(page, '/form#alone', 'assign')
    expect(documents()).toBe(2)
    await load(page, '/form#alone', 'replace')
    expect(documents()).toBe(3)
    expect(new URL(page.url()).hash).toBe('#alone')
  })

  moduleTest('is nothing that runs script', async ({ open }) => {
    const { page } = await openForm(open)
    for (const href of ['javascript:document.title="run"', 'data:text/html,x', 'blob:x']) {
      const said = await page.evaluate(
        `(() => { try { load('${href}', 'assign') } catch (error) { return error.name } })()`,
      )
      expect(said).toBe('TypeError')
    }
    expect(await page.title()).toBe('Page')
  })
})

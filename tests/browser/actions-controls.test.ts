/** What forms can do by themselves they can do with actions too, with JavaScript on, off, and arriving late. */
import { describe, expect } from 'vitest'
import { actionTest as browserTest, openActions, press, SCRIPTS } from '../support/actions-app.ts'
import { hold, pathOf } from '../support/router-page.ts'

describe.for(SCRIPTS)('a form, JavaScript $name,', ({ scripts }) => {
  const javaScript = scripts !== 'off'

  browserTest('sends the button that was pressed, to the action of that button', async ({ open }) => {
    const { page, settle } = await openActions(await open({ javaScript }), scripts, '/controls')
    const ran = page.getByTestId('ran')
    const text = page.getByLabel('text')
    // Asked by the browser to fill it in.
    await press(page, 'One')
    expect(await text.evaluate((field) => document.activeElement === field)).toBe(true)
    await press(page, 'Unchecked')
    await ran.getByText('first unchecked', { exact: true }).waitFor()
    await text.fill('a')
    await press(page, 'Two')
    await ran.getByText('first unchecked, first two a', { exact: true }).waitFor()
    await text.fill('b')
    await press(page, 'Other action')
    await ran.getByText('first unchecked, first two a, second b', { exact: true }).waitFor()
    await settle()
  })

  browserTest('of method get is a navigation, and a dialog closes by its button', async ({ open }) => {
    const { page, path, settle } = await openActions(await open({ javaScript }), scripts, '/controls')
    await press(page, 'Get')
    await page.waitForURL((url) => url.searchParams.get('by') === 'get', { waitUntil: 'commit' })
    expect(pathOf(page)).toBe(`${path}&by=get`)
    await press(page, 'Get instead')
    await page.waitForURL((url) => url.searchParams.get('by') === 'formMethod', { waitUntil: 'commit' })
    await press(page, 'Yes')
    await page.getByRole('dialog', { name: 'Question' }).waitFor({ state: 'hidden' })
    await settle()
  })
})

describe.for(SCRIPTS)('a button of formMethod="dialog", JavaScript $name,', ({ scripts }) => {
  browserTest('closes the dialog and runs no action, where it has a formAction', async ({ open }) => {
    const { page, path, settle } = await openActions(
      await open({ javaScript: scripts !== 'off' }),
      scripts,
      '/controls',
    )
    const sent: string[] = []
    page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()))
    await press(page, 'Cancel')
    await page.getByRole('dialog', { name: 'Action' }).waitFor({ state: 'hidden' })
    await settle()
    expect(sent).toEqual([])
    await page.goto(path)
    expect(await page.getByTestId('ran').innerText()).toBe('')
  })
})

describe('a form with JavaScript', () => {
  browserTest.for(['One', 'Other action'])('is sent once by two quick clicks on “%s”', async (button, { open }) => {
    const { page } = await openActions(await open(), 'on', '/controls')
    const calls = await hold(page, /_action=/)
    const sent: string[] = []
    page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()))
    await page.getByLabel('text').fill('a')
    await page.getByRole('button', { name: button, exact: true }).dblclick()
    await calls.asked
    calls.release()
    await page
      .getByTestId('ran')
      .getByText(button === 'One' ? 'first one a' : 'second a', { exact: true })
      .waitFor()
    expect(sent).toHaveLength(1)
  })

  browserTest('says by useFormStatus what is being sent', async ({ open }) => {
    const { page } = await openActions(await open(), 'on', '/controls')
    const held = await hold(page, /_action=/)
    await page.getByLabel('text').fill('a')
    await press(page, 'Two')
    await held.asked
    await page.getByTestId('status').getByText('sending two', { exact: true }).waitFor()
    held.release()
    await page.getByTestId('ran').getByText('first two a', { exact: true }).waitFor()
    expect(await page.getByTestId('status').innerText()).toBe('')
  })
})

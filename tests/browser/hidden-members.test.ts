/**
 * Fields hide the members of their form that have their names, and elements with a name hide those of the document. A
 * page works whatever it calls its fields and forms.
 */
import { untilAlive } from 'millrace/testing'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { actionTest as browserTest } from '../support/actions-app.ts'

/** React itself calls these of a form that it makes or resets. */
const CALLED_BY_REACT = ['appendChild', 'nodeName', 'reset', 'setAttribute']

/** Keys that reach a prototype; the server refuses them. */
const REFUSED = ['constructor']

/** Members of a form and of the document, but for constants and the handlers of events. */
function membersOf(page: Page, of: 'form' | 'document'): Promise<string[]> {
  return page.evaluate((what) => {
    const prototypes =
      what === 'form'
        ? [HTMLFormElement, HTMLElement, Element, Node, EventTarget, Object]
        : [Document, HTMLDocument, Node, EventTarget, Object]
    const names = prototypes.flatMap(({ prototype }) => Object.getOwnPropertyNames(prototype))
    return [...new Set(names)].filter((name) => !/^(?:on[a-z]|aria[A-Z]|[A-Z_]+$|__)/.test(name))
  }, of)
}

/** Sends a form with a fault twice and follows another one, and returns what has not happened. */
function useForms(page: Page, names: readonly { readonly field: string; readonly form?: string }[]): Promise<string[]> {
  return page.evaluate(async (all) => {
    // As the runtime does: the page's own members are what this is about.
    const { querySelector } = Document.prototype
    const find = <Some extends HTMLElement>(selector: string) => querySelector.call(document, selector) as Some | null
    const active = (): unknown => Reflect.get(Document.prototype, 'activeElement', document)
    const missing: string[] = []
    for (const name of all) {
      const until = async (what: string, isTrue: () => unknown): Promise<void> => {
        for (let frame = 0; frame < 300; frame += 1) {
          if (isTrue()) return
          await new Promise(requestAnimationFrame)
        }
        missing.push(`${JSON.stringify(name)}: ${what}`)
      }
      const field = (): HTMLInputElement | null => find<HTMLInputElement>('#field')
      window.show?.(name)
      await until('is shown', () => field()?.name === name.field && find('h1')?.title === JSON.stringify(name))
      const control = field()
      if (control === null) continue
      control.value = 'wrong'
      const button = find('[data-testid=send] button')
      button?.click()
      button?.click()
      await until('has its fault', () => find('#field-error')?.textContent === 'is wrong')
      await until('has the focus', () => active() === field())
      await until('keeps what was typed', () => field()?.value === 'wrong')
      find('[data-testid=find] button')?.click()
      await until('is found', () => new URLSearchParams(location.search).get(name.field) === 'found')
    }
    return missing
  }, names)
}

/** Each in a page of its own: none of them takes longer than a test may. */
const PARTS = 6

browserTest.for(Array.from({ length: PARTS }, (_, at) => at))(
  'fields named as a member of their form, part %i',
  async (part, { open }) => {
    const page = await open({ allow: [/status of 422/] })
    await page.goto('/names')
    await untilAlive(page)
    const calls: string[] = []
    page.on('request', (request) => request.method() === 'POST' && calls.push(request.url()))
    const all = await membersOf(page, 'form')
    expect(all).toContain('elements')
    const names = all.filter((name, at) => at % PARTS === part && ![...CALLED_BY_REACT, ...REFUSED].includes(name))
    expect(
      await useForms(
        page,
        names.map((field) => ({ field })),
      ),
    ).toEqual([])
    // The second click was the first one again.
    expect(calls).toHaveLength(names.length)
  },
)

browserTest('forms with the name of a member of the document', async ({ open }) => {
  const page = await open({ allow: [/status of 422/] })
  await page.goto('/names')
  await untilAlive(page)
  const names = await membersOf(page, 'document')
  expect(names).toContain('querySelectorAll')
  expect(
    await useForms(
      page,
      names.map((form) => ({ field: 'text', form })),
    ),
  ).toEqual([])
})

/** React's ids in kept shells: the shell's are made once, those of its slots for each visitor. */
import { Suspense, use, useId, type ReactNode } from 'react'
import { expect, test } from 'vitest'
import { nameInCookie } from '../support/kept-shells.tsx'
import { statusOf, visit } from '../support/kept-pages.tsx'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

interface Own {
  readonly name: string
  /** Still open when the slot is rendered. */
  readonly later?: Promise<string>
}

function Field({ label }: { readonly label: string }) {
  const [id, hint] = [useId(), useId()]
  return (
    <label htmlFor={id}>
      {label} <input id={id} aria-describedby={hint} /> <i id={hint}>hint</i>
    </label>
  )
}

function Later({ value }: { readonly value: Promise<string> | undefined }) {
  return <Field label={value === undefined ? 'none' : use(value)} />
}

function Slot({ value }: { readonly value: Promise<Own> }) {
  const { name, later } = use(value)
  return (
    <section>
      {[1, 2, 3].map((key) => (
        <Field key={key} label={`${name} ${key}`} />
      ))}
      <Suspense fallback={<i>wait</i>}>
        <Later value={later} />
      </Suspense>
    </section>
  )
}

const around = ({ data, children }: { data: { visitor: Promise<Own> }; children?: ReactNode }) => (
  <>
    <Field label="before" />
    <Suspense fallback={<i>wait</i>}>
      <Slot value={data.visitor} />
    </Suspense>
    <Field label="between" />
    <Suspense>
      <Slot value={data.visitor} />
    </Suspense>
    {children}
    <Field label="after" />
  </>
)

test('ids of slots are none of the shell’s, and the same for all visitors', async () => {
  const visitor = (args: Parameters<typeof nameInCookie>[0]) => {
    const { name } = nameInCookie(args) as Own
    return { name, later: new Promise((resolve) => setTimeout(resolve, 10, `${name} later`)) }
  }
  const site = tinyApp({
    routes: {
      '/': { layout: page(around as never), layoutLoader: moduleOf({ layoutVisitor: visitor }) },
      '/kept': { cache: 'shared', page: page(around as never), loader: moduleOf({ visitor }) },
    } as never,
  })
  await visit(site, '/kept')
  const seen: (readonly string[])[] = []
  for (const name of ['ann', 'bob', 'ann']) {
    const answer = await visit(site, '/kept', { Cookie: `visitor=${name}` })
    expect(statusOf(answer)).toContain('hit')
    const { text } = answer
    const [, prefix = ''] = /"identifierPrefix":"([a-z]+)"/.exec(text) ?? []
    const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id).filter((id) => id !== 'millrace')
    // Fields of the shell and the slots, each with a hint; boundaries and hidden parts.
    expect(ids.length).toBeGreaterThan(50)
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([])
    expect(ids.filter((id) => !id.includes(prefix))).toEqual([])
    expect(text.match(new RegExp(`>${name} later<`, 'g'))).toHaveLength(4)
    seen.push(ids)
  }
  expect(seen[1]).toEqual(seen[0])
  expect(seen[2]).toEqual(seen[0])
})

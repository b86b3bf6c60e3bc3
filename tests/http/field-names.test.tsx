/** Names that JavaScript's objects and promises have too: from the form to the schema, to the fault, and back. */
import { useActionState } from 'react'
import request from 'supertest'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { Field, useParams } from 'millrace'
import { submitForm } from 'millrace/testing'
import { action } from '../../src/server/routes/actions/action.ts'
import { page, tinyApp } from '../support/tiny-app.tsx'

const NAMES = [
  'then', 'catch', 'length', 'name', '_action', '_m', 'toString', 'valueOf', 'hasOwnProperty', 'isPrototypeOf',
  'toJSON', '__defineGetter__', '__lookupSetter__', 'toLocaleString', 'propertyIsEnumerable', 'kind', 'errors',
  'values', 'omitted', 'get', 'set', 'value', 'key', 'ref', 'children', 'elements', 'action', 'method', 'submit',
] // prettier-ignore

/** Names that could reach a prototype in what an application does with the object. */
const REFUSED = ['__proto__', 'constructor', 'prototype']

const send = action({
  input: z.custom<Readonly<Record<string, unknown>>>().superRefine((fields, { addIssue }) => {
    for (const [name, value] of Object.entries(fields)) {
      if (value === 'wrong') addIssue({ code: 'custom', message: `${name} is wrong`, path: [name] })
    }
  }),
  handler: ({ input }) => ({ kind: 'taken', fields: Object.entries(input) }),
})

function NamedForm() {
  const { name } = useParams() as { readonly name: string }
  const [state, formAction] = useActionState(send as never, null)
  return (
    <form action={formAction} id="form">
      <Field name={name} state={state} label="Field" id="field" />
      <output>{JSON.stringify(state)}</output>
    </form>
  )
}

const { app } = tinyApp({
  routes: { '/of/[name]': { page: page(NamedForm) } },
  actions: { 'actions.server.ts': { send } },
})

async function post(name: string, value: string) {
  const { text } = await request(app).get(`/of/${name}`).expect(200)
  const form = await submitForm(text, '#form', { [name]: value })
  return request(app).post(form.url).set(form.headers).send(form.body)
}

test.for(NAMES)('a field named %s has its fault and what was typed, and its value in the handler', async (name) => {
  const refused = await post(name, 'wrong')
  expect(refused.status).toBe(422)
  expect(refused.text).toContain(`<p id="field-error">${name} is wrong</p>`)
  expect(refused.text.match(/value="wrong"/g)).toHaveLength(1)
  expect(refused.text.match(/aria-invalid="true"/g)).toHaveLength(1)
  const taken = await post(name, 'right')
  expect(taken.status).toBe(200)
  expect(taken.text).toContain(`[&quot;${name}&quot;,&quot;right&quot;]`)
})

test.for(REFUSED)('a field named %s is refused', async (name) => {
  expect((await post(name, 'right')).status).toBe(400)
})

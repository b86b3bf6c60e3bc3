import { randomUUID } from 'node:crypto'
import { describe, expect } from 'vitest'
import { actionTest as browserTest } from '../support/actions-app.ts'

/** Chromium's own complaint about a status of 4xx. */
const STATUS = [/responded with a status of (?:422|404)/]

describe('Back without JavaScript', () => {
  browserTest('leads to the faults of a form and what was typed', async ({ open }) => {
    const page = await open({ javaScript: false, allow: STATUS })
    const key = randomUUID()
    await page.goto(`/form?key=${key}`)
    await page.getByLabel('name', { exact: true }).fill('much too long')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByTestId('errors').getByText('is too long').waitFor()
    await page.getByRole('link', { name: 'Home' }).click()
    await page.waitForURL('/')
    await page.goBack()
    await page.getByTestId('errors').getByText('is too long').waitFor()
    expect(await page.getByLabel('name', { exact: true }).inputValue()).toBe('much too long')
  })

  browserTest('leads to the state of a form, and sends nothing again', async ({ open }) => {
    const page = await open({ javaScript: false, allow: STATUS })
    await page.goto(`/form?key=${randomUUID()}`)
    await page.getByRole('button', { name: 'Count', exact: true }).click()
    await page.getByTestId('counted').getByText('1').waitFor()
    await page.getByRole('link', { name: 'Home' }).click()
    await page.waitForURL('/')
    await page.goBack()
    expect(await page.getByTestId('counted').textContent()).toBe('1')
    expect(await page.getByTestId('ran').textContent()).toBe('count')
  })
})

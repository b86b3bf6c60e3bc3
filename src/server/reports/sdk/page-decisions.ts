/**
 * Limits how often pages of one client may have a request sampled. Browsers state that a request is from a page of this
 * site, but any client can claim that: it then gets no more than a visitor who clicks. At most 1,000 clients are
 * remembered.
 */
import { createReportBudget, type ReportBudget } from '../delivery/report-budget.ts'

const A_SECOND = 2 // a navigation, and an action on the page
const AT_ONCE = 20
const MOST_CLIENTS = 1_000

/** Counts the decisions of clients. */
interface PageDecisions {
  /** @param client as `clientKey` names it. @param now milliseconds. @returns whether it may decide again. */
  take(client: string, now: number): boolean
}

/** Starts empty. */
export function createPageDecisions(mostClients = MOST_CLIENTS): PageDecisions {
  const budgets = new Map<string, ReportBudget>()
  return {
    take(client, now) {
      const budget = budgets.get(client) ?? createReportBudget(A_SECOND, AT_ONCE)
      budgets.delete(client)
      budgets.set(client, budget)
      if (budgets.size > mostClients) budgets.delete(budgets.keys().next().value ?? '')
      return budget.take(now)
    },
  }
}

export const STATUSES = ['open', 'pending', 'solved'] as const
export type Status = (typeof STATUSES)[number]

export const TOPICS = ['billing', 'access', 'fault', 'other'] as const

/** What the list shows without search params. */
export const FILTERS = { q: '', status: 'all', page: 1 } as const

export const UPLOAD = { files: 3, fileBytes: 2_000_000 } as const

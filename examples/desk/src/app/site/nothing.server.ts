import { notFound } from 'millrace/server'

export const loader = () => notFound()

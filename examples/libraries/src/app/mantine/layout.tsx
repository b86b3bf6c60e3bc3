import { MantineProvider } from '@mantine/core'
import { useNonce, type LayoutProps } from 'millrace'
import '@mantine/core/styles.css'

/** Its files begin with 'use client', which means nothing here: every component runs on both sides. */
export default function MantineLayout({ children }: LayoutProps<'/mantine'>) {
  const nonce = useNonce()
  return <MantineProvider {...(nonce !== undefined && { getStyleNonce: () => nonce })}>{children}</MantineProvider>
}

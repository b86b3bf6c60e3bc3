import { Dialog, Tabs } from 'radix-ui'

export const metadata = { title: 'Radix' }

export default function RadixPage() {
  return (
    <>
      <h1>Radix</h1>
      <Tabs.Root defaultValue="upper">
        <Tabs.List aria-label="Mills">
          <Tabs.Trigger value="upper">Upper mill</Tabs.Trigger>
          <Tabs.Trigger value="lower">Lower mill</Tabs.Trigger>
        </Tabs.List>
        <Tabs.Content value="upper">It has two wheels.</Tabs.Content>
        <Tabs.Content value="lower">It has three wheels.</Tabs.Content>
      </Tabs.Root>
      <Dialog.Root>
        <Dialog.Trigger>Stop the wheels</Dialog.Trigger>
        <Dialog.Portal>
          <Dialog.Content aria-describedby={undefined}>
            <Dialog.Title>Are you sure?</Dialog.Title>
            <Dialog.Close>Close</Dialog.Close>
          </Dialog.Content>
        </Dialog.Portal>
      </Dialog.Root>
    </>
  )
}

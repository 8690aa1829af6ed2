export const TABS = ['auto', 'chat', 'payload', 'attributes', 'feedback', 'code', 'cost', 'raw'] as const
export type DetailTab = (typeof TABS)[number]

/**
 * Whether every surrogate has its other half. JSON may escape one alone, but no tokenizer and no UTF-8 takes half a
 * character.
 */
export const isWellFormed = (text: string): boolean => text.isWellFormed()

/** What a sender sent cannot be read, or is more than is taken. The message says which. */
export class BrokenInput extends Error {}

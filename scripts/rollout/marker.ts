/** What recall puts around the memory that it gives to a session; readers take such text for the harness's. */
export const memoryOpen = '<commit-to-memory v="1">';
export const memoryClose = '</commit-to-memory>';

/** The first words of every session that this program starts itself: such a session is never read. */
export const ownRun = '<commit-to-memory v="1" run="own">';

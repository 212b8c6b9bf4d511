/* empty_dataset.h -- take away a dataset that has nothing in it. */
#ifndef EMPTY_DATASET_H
#define EMPTY_DATASET_H

/* Remove the dataset that this command has made and closed, if it is still as
 * it was made: no step, no other writer since, and no file of anyone else's.
 * What is not so is left alone. */
void remove_empty_dataset(const char *path);

#endif

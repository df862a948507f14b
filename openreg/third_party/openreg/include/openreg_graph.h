/* Inspects captures and graphs. See docs/modules/graphs.md.
 *
 * A part of the driver API, with the rules at the top of openreg.h. Names and semantics
 * follow cudaStreamGetCaptureInfo and cudaGraphDebugDotPrint.
 */
#ifndef OPENREG_GRAPH_H
#define OPENREG_GRAPH_H

#include "openreg.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which capture `stream` takes part in, also an invalidated one: *capturing is 1, and
 * *id is a number that no other capture of this process has. Otherwise both are 0.
 * Never invalidates a capture. */
OPENREG_API orError_t orStreamGetCaptureInfo(orStream_t stream, int* capturing,
                                             uint64_t* id);
/* Writes the tasks of a graph and their order to the file `path`, in the DOT language
 * of Graphviz: a box for each task, with its name and the stream that it was captured
 * from. orErrorInvalidValue when the file cannot be written. */
OPENREG_API orError_t orGraphDebugDotPrint(orGraph_t graph, const char* path);

#ifdef __cplusplus
}
#endif
#endif /* OPENREG_GRAPH_H */

"""`scipy.cluster.hierarchy`: trees of clusters are constant in pieces, their heights are refused."""

from __future__ import annotations

from ...numpy.patching.replacements import constant, refuses, runs_through

H = "scipy.cluster.hierarchy"
constant(
    H, "fcluster", "fclusterdata", "leaders", "leaves_list", "cut_tree", "num_obs_linkage",
    note="labels and numbers of clusters",
)  # fmt: skip
constant(
    H, "correspond", "is_isomorphic", "is_monotonic", "is_valid_im", "is_valid_linkage", note="truth values"
)  # fmt: skip
constant(H, "set_link_color_palette", note="a setting, which meets no numbers")
runs_through(H, "DisjointSet", "ClusterNode", note="a class, which holds what it is given")
refuses(
    H, "linkage", "single", "complete", "average", "weighted", "centroid", "median", "ward", "optimal_leaf_ordering",
    reason="it joins the nearest clusters, one pair after the other, in compiled code",
    fix="Find the tree at plain values,  Z = linkage(ad.value(x)),  and compute the heights that are wanted from the "
    "distances of its clusters.",
)  # fmt: skip
refuses(
    H, "cophenet", "inconsistent", "maxdists", "maxinconsts", "maxRstat", "from_mlab_linkage", "to_mlab_linkage",
    "to_tree", "dendrogram",
    reason="it reads a tree of clusters in compiled code or as a drawing",
    fix="Pass it plain values:  ad.value(Z).",
)  # fmt: skip

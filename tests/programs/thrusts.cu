// Thrust: device_vector, sort, scans, reductions, transformations, copies by predicate, sets, iterators, permutations.
#include "self.cuh"
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/extrema.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>
#include <algorithm>
#include <numeric>

struct square {
    __host__ __device__ long long operator()(int x) const { return (long long)x * x; }
};
struct odd {
    __host__ __device__ bool operator()(int x) const { return x % 2; }
};
struct backwards {
    __host__ __device__ bool operator()(int a, int b) const { return a % 100 != b % 100 ? a % 100 > b % 100 : a < b; }
};

int main()
{
    const int n = 3000;
    thrust::host_vector<int> h(n);
    for (int i = 0; i < n; i++) h[i] = draw(i) % 2000;
    std::vector<int> v(h.begin(), h.end());
    thrust::device_vector<int> d = h, e(n), places(n);

    CHECK(thrust::reduce(d.begin(), d.end()) == std::accumulate(v.begin(), v.end(), 0));
    CHECK(thrust::transform_reduce(d.begin(), d.end(), square(), 0ll, thrust::plus<long long>()) ==
          std::accumulate(v.begin(), v.end(), 0ll, [](long long s, int x) { return s + (long long)x * x; }));
    CHECK(thrust::count_if(d.begin(), d.end(), odd()) == std::count_if(v.begin(), v.end(), odd()));
    CHECK(thrust::max_element(d.begin(), d.end()) - d.begin() == std::max_element(v.begin(), v.end()) - v.begin());
    CHECK(thrust::inner_product(d.begin(), d.end(), d.begin(), 0ll) == std::inner_product(v.begin(), v.end(), v.begin(), 0ll));

    thrust::inclusive_scan(d.begin(), d.end(), e.begin());
    std::vector<int> sums(n), out(n);
    std::partial_sum(v.begin(), v.end(), sums.begin());
    thrust::copy(e.begin(), e.end(), out.begin());
    CHECK(out == sums);
    thrust::exclusive_scan(d.begin(), d.end(), e.begin(), 5, thrust::maximum<int>());
    thrust::copy(e.begin(), e.end(), out.begin());
    bool right = true;
    for (int i = 0, most = 5; i < n; most = std::max(most, v[i++])) right &= out[i] == most;
    CHECK(right);

    const auto end = thrust::copy_if(d.begin(), d.end(), e.begin(), odd());
    std::vector<int> odds;
    std::copy_if(v.begin(), v.end(), std::back_inserter(odds), odd());
    CHECK(end - e.begin() == (long)odds.size() && thrust::equal(e.begin(), end, thrust::device_vector<int>(odds).begin()));

    thrust::sequence(places.begin(), places.end());
    e = d;
    thrust::sort_by_key(e.begin(), e.end(), places.begin());
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return v[a] < v[b]; });
    thrust::copy(places.begin(), places.end(), out.begin());
    CHECK(out == order);
    const auto last = thrust::unique(e.begin(), e.end());
    std::vector<int> once = v;
    std::sort(once.begin(), once.end());
    once.erase(std::unique(once.begin(), once.end()), once.end());
    CHECK(last - e.begin() == (long)once.size() && thrust::equal(e.begin(), last, thrust::device_vector<int>(once).begin()));
    CHECK(thrust::lower_bound(e.begin(), last, once[7]) - e.begin() == 7);

    e = d;
    thrust::sort(e.begin(), e.end(), backwards());
    std::vector<int> other = v;
    std::sort(other.begin(), other.end(), backwards());
    thrust::copy(e.begin(), e.end(), out.begin());
    CHECK(out == other);

    const auto squares = thrust::make_transform_iterator(thrust::counting_iterator<int>(0), square());
    CHECK(thrust::reduce(squares, squares + 100) == 328350);
    d[3] = 77;
    const int back = d[3];
    CHECK(back == 77 && d.size() == (size_t)n && thrust::raw_pointer_cast(d.data()) != nullptr);
    return verdict();
}

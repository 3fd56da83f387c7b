// Core.cs - the handle of a filter, and the gate that every call on it goes through.
//
// The library lets any number of threads query a filter as long as none changes it. Core ensures
// that: it admits any number of queries or one change; other calls wait. Closing is a change that
// never ends: it waits for calls in progress, and later calls are refused. The gate is a member of
// the handle and a call leaves through it, so the garbage collector can't free the filter during a
// call.
//
// `state` counts the running queries; a running change subtracts Change from it. If nobody has to
// wait, entering and leaving take one atomic operation each. A thread that must wait counts itself
// in `waiters` while holding the monitor, tries again, and sleeps. A thread that leaves looks for
// waiters after its own atomic operation, so no waiter sleeps through it. A waiting change takes
// precedence over new queries; otherwise it might wait forever.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Threading;

namespace Petal
{
    internal sealed class Core : SafeHandle
    {
        private const int Change = 1 << 30;

        private int state;
        private volatile int waiters, waitingChanges; // written while holding the monitor
        private volatile bool closed, shared;
        private readonly object monitor = new object();
        private readonly bool grows;
        private long pressure, uncounted; // changed only by a thread that changes the filter

        [ThreadStatic]
        private static List<Core> written; // filters that this thread is writing to streams

        private GCHandle viewed; // the view's array, pinned

        internal Core(IntPtr filter, ulong bytes, bool grows, GCHandle viewed)
            : base(IntPtr.Zero, true)
        {
            Count(bytes);
            this.grows = grows;
            this.viewed = viewed;
            SetHandle(filter); // from here on the handle frees the filter: nothing may throw
        }

        // Tells the garbage collector how much memory the filter takes.
        private void Count(ulong bytes)
        {
            long now = bytes < long.MaxValue ? (long)bytes : 0;
            if (now != pressure)
                Pressure.Change(now - pressure);
            pressure = now;
        }

        internal IntPtr Filter => handle;
        internal bool Closed => closed;

        internal void CheckOpen()
        {
            if (closed)
                throw Failure.Closed();
        }

        public override bool IsInvalid => handle == IntPtr.Zero;

        protected override bool ReleaseHandle()
        {
            Native.petal_free(handle);
            if (viewed.IsAllocated)
                viewed.Free();
            Count(0);
            return true;
        }

        // ---- queries ----

        internal void EnterQuery()
        {
            if (waitingChanges == 0)
            {
                if (Interlocked.Increment(ref state) > 0)
                    return;
                LeaveQuery();
            }
            WaitForQuery();
        }

        internal void LeaveQuery()
        {
            Interlocked.Decrement(ref state);
            if (waiters != 0)
                Wake();
        }

        private bool TryQuery(bool mine)
        {
            if (closed)
                throw Failure.Closed();
            if (waitingChanges > 0 && !mine)
                return false;
            if (Interlocked.Increment(ref state) > 0)
                return true;
            LeaveQuery();
            return false;
        }

        private void WaitForQuery()
        {
            bool mine = IsWritten();
            lock (monitor)
            {
                waiters++;
                Interlocked.MemoryBarrier();
                try
                {
                    while (!TryQuery(mine))
                    {
                        if (mine)
                            throw Failure.InUse();
                        Monitor.Wait(monitor);
                    }
                }
                finally
                {
                    waiters--;
                }
            }
        }

        // ---- changes ----

        internal void EnterChange()
        {
            if (Interlocked.CompareExchange(ref state, -Change, 0) != 0)
                WaitForChange();
        }

        internal void LeaveChange()
        {
            Interlocked.Add(ref state, Change);
            if (waiters != 0)
                Wake();
        }

        private void WaitForChange()
        {
            if (IsWritten())
                throw Failure.InUse();
            lock (monitor)
            {
                waiters++;
                waitingChanges++;
                Interlocked.MemoryBarrier();
                try
                {
                    while (Interlocked.CompareExchange(ref state, -Change, 0) != 0)
                    {
                        if (closed)
                            throw Failure.Closed();
                        Monitor.Wait(monitor);
                    }
                }
                finally
                {
                    waiters--;
                    waitingChanges--;
                }
            }
        }

        private void Wake()
        {
            lock (monitor) Monitor.PulseAll(monitor);
        }

        // ---- adding, and all other calls ----
        //
        // If a filter is shared, any number of threads may add and query concurrently, but all
        // other calls must wait until adding is done. Returns true if the call entered as a change.

        internal bool EnterAdd()
        {
            if (shared)
                EnterQuery();
            else
                EnterChange();
            return !shared;
        }

        internal bool EnterRead()
        {
            if (!shared)
            {
                EnterQuery();
                if (!shared)
                    return false;
                LeaveQuery(); // shared meanwhile
            }
            EnterChange();
            return true;
        }

        internal void Leave(bool asChange)
        {
            if (asChange)
                LeaveChange();
            else
                LeaveQuery();
        }

        // Called after adding `keys` keys, since a growing filter may have allocated memory.
        internal unsafe void LeaveAdded(bool asChange, long keys)
        {
            const int LayerKeys = 1024;
            if (grows && asChange && (uncounted += keys) >= LayerKeys)
            {
                uncounted = 0;
                NativeInfo info = new NativeInfo();
                info.Size = (uint)sizeof(NativeInfo);
                if (Native.petal_get_info(handle, Native.AllLayers, &info, null) >= 0)
                    Count(info.MemoryBytes);
            }
            Leave(asChange);
        }

        internal void SetShared()
        {
            shared = true;
        }

        // ---- two filters ----
        //
        // A thread that holds one filter and must wait for the other releases the first while it
        // waits, so that two threads taking the same filters in opposite order don't deadlock.

        internal static bool EnterTwo(Core first, Core second, bool change)
        {
            for (;;)
            {
                bool asChange = change || first.EnterRead();
                if (change)
                    first.EnterChange();
                if (ReferenceEquals(first, second))
                    return asChange;
                bool entered = false;
                try
                {
                    entered = second.TryRead();
                }
                finally
                {
                    if (!entered)
                        first.Leave(asChange);
                }
                if (entered)
                    return asChange;
                second.Leave(second.EnterRead());
            }
        }

        internal static void LeaveTwo(Core first, Core second, bool asChange)
        {
            first.Leave(asChange);
            if (!ReferenceEquals(first, second))
                second.Leave(second.shared);
        }

        private bool TryRead()
        {
            if (!shared)
            {
                if (!TryQuery(false))
                    return false;
                if (!shared)
                    return true;
                LeaveQuery();
            }
            if (closed)
                throw Failure.Closed();
            return Interlocked.CompareExchange(ref state, -Change, 0) == 0;
        }

        // ---- streams that call back ----

        internal void BeginWriting()
        {
            if (written == null)
                written = new List<Core>();
            written.Add(this);
        }

        internal void EndWriting()
        {
            written.Remove(this);
        }

        private bool IsWritten() => written != null && written.Contains(this);

        // ---- the end ----

        // Waits for running calls. Syncs a writable map first; if that fails, throws after closing
        // the filter.
        internal unsafe void Close(string path)
        {
            if (closed)
                return;
            try
            {
                EnterChange();
            }
            catch (ObjectDisposedException) // another thread has closed it in the meantime
            {
                return;
            }
            NativeError error;
            int status = Native.petal_sync(handle, &error);
            closed = true;
            Wake();
            Dispose();
            if (status < 0)
                throw Failure.Of(&error, path);
        }
    }

    // Bounds the memory of filters that are never disposed of. The garbage collector knows how much
    // memory filters take, but that is not enough: on a busy machine its finalizers fall behind,
    // and Mono's collector ignores the number. So a thread that exceeds the limit waits for the
    // finalizers, and forces a collection if they freed too little. The limit is then set to twice
    // the memory in use.
    internal static class Pressure
    {
        private const long Least = 64 << 20;

        private static long used, limit = Least;

        internal static void Change(long bytes)
        {
            if (bytes < 0)
                GC.RemoveMemoryPressure(-bytes);
            else
                GC.AddMemoryPressure(bytes);
            Count(Interlocked.Add(ref used, bytes), bytes < 0);
        }

        private static void Count(long now, bool freed)
        {
            long most = Interlocked.Read(ref limit);
            // After a peak, each filter that is freed lowers the limit a little.
            if (freed && now < most / 4)
                Interlocked.Exchange(ref limit, Math.Max(Least, most - most / 16));
            if (freed || now <= most)
                return;
            GC.WaitForPendingFinalizers();
            if (Interlocked.Read(ref used) <= most)
                return;
            GC.Collect();
            GC.WaitForPendingFinalizers();
            Interlocked.Exchange(ref limit, Math.Max(Least, 2 * Interlocked.Read(ref used)));
        }
    }
}
